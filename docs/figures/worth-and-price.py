"""Draws worth-and-price.svg: how the worth of a visit grows with the age of a copy, and where it meets the price.

    python3 docs/figures/worth-and-price.py > docs/figures/worth-and-price.svg

The curves are (A/λ)·g(λτ) with g(x) = 1 − (1 + x)·e^(−x): docs/science/theory.md, section 1. No data is needed.
"""
from math import exp

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 720, 300, 60, 250, 20, 700
DAYS, WORTH, PRICE = 20.0, 6.0, 1.2
# Name, what searchers lose per day by an old copy (A), changes per day (λ), colour class, where the name stands.
PAGES = [
    ("busy page, often searched", 2.0, 0.40, "a", (1.6, 5.2)),
    ("quiet page, often searched", 2.0, 0.05, "b", (10.2, 2.9)),
    ("busy page, rarely searched", 0.4, 0.40, "c", (9.5, 0.5)),
]


def worth(a, rate, age):
    x = rate * age
    return a / rate * (1 - (1 + x) * exp(-x))


def place(age, value):
    return LEFT + age / DAYS * (RIGHT - LEFT), BOTTOM - value / WORTH * (BOTTOM - TOP)


def due(a, rate):
    return next((d / 100 for d in range(int(DAYS * 100)) if worth(a, rate, d / 100) >= PRICE), None)


out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
       'font-family="system-ui, sans-serif" font-size="13" aria-labelledby="t">',
       '<title id="t">Worth of a visit over the age of a copy; a page is due where its curve meets the price</title>',
       "<style>.t{fill:#234}.x{stroke:#567;fill:none}.l{fill:none;stroke-width:2.5}.p{stroke:#666;stroke-dasharray:6 4}"
       ".a{stroke:#1b5fa8}.b{stroke:#b4541a}.c{stroke:#2d7d46}.d{fill:#234}"
       "@media (prefers-color-scheme:dark){svg{background:#14181d}.t,.d{fill:#dde}.x{stroke:#9ab}.p{stroke:#aaa}"
       ".a{stroke:#5aa2ee}.b{stroke:#f0a05a}.c{stroke:#6fcf8f}}</style>",
       f'<path class="x" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>',
       f'<text class="t" x="{(LEFT + RIGHT) / 2:.0f}" y="290" text-anchor="middle">age of the copy, days</text>',
       f'<text class="t" transform="translate(18 {(TOP + BOTTOM) / 2:.0f}) rotate(-90)" text-anchor="middle">worth</text>']
for day in range(0, int(DAYS) + 1, 5):
    out.append(f'<text class="t" x="{place(day, 0)[0]:.0f}" y="268" text-anchor="middle">{day}</text>')
y = place(0, PRICE)[1]
out.append(f'<path class="p" d="M{LEFT} {y:.1f}H{RIGHT}"/><text class="t" x="{LEFT + 6}" y="{y - 6:.1f}">price</text>')
for name, a, rate, colour, (x, v) in PAGES:
    points = (place(d / 4, worth(a, rate, d / 4)) for d in range(int(DAYS * 4) + 1))
    path = "L".join(f"{px:.1f} {py:.1f}" for px, py in points if py >= TOP)
    out.append(f'<path class="l {colour}" d="M{path}"/>')
    when = due(a, rate)
    note = f"due after {when:.1f} days" if when else "not due at this price"
    px, py = place(x, v)
    out.append(f'<text class="t" x="{px:.0f}" y="{py:.0f}">{name}: {note}</text>')
    if when:
        px, py = place(when, PRICE)
        out.append(f'<circle class="d" cx="{px:.1f}" cy="{py:.1f}" r="4"/>')
out.append("</svg>")
print("\n".join(out))
