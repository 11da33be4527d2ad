//! The gain function `g(x) = 1 − (1+x)e^{−x}` and its inverse.
//!
//! `x` is the age of a copy in mean lifetimes of its page. `g` is the marginal worth of a visit
//! to a page that changes by a Poisson process (Cho & Garcia-Molina, TODS 2003), as a share of
//! its worth for an infinitely old copy. The inverse gives the age at which a page is worth a
//! price.

/// Below this argument the closed form loses digits, and the series needs few terms.
const SMALL: f64 = 0.5;

/// `g(1)`. For `x` below 1, `g` is convex, so Newton's method on `g` converges.
const BEND: f64 = 0.264_241_117_657_115_4;

/// Returns `g(x)`, which rises from 0 at 0 to 1. It is 0 for negative `x`.
pub fn gain(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x < SMALL {
        // ∫ t·e^{−t} dt, term by term: Σ (−1)^k x^{k+2} / (k!(k+2)).
        let mut power = x * x;
        let mut sum = 0.0;
        for k in 0..16 {
            let k = f64::from(k);
            sum += power / (k + 2.0);
            power *= -x / (k + 1.0);
        }
        return sum;
    }
    if x.is_infinite() {
        return 1.0;
    }
    1.0 - (1.0 + x) * (-x).exp()
}

/// Returns the mean of `λ̂·g(λτ)/λ` over a Gamma distribution of λ with mean λ̂ and this shape,
/// where `x = λ̂τ`. It is `g(x)` for an infinite shape.
///
/// With y = x/shape and shape a it is `a/(a−1)·[1 − (1+y)^{1−a}] − x(1+y)^{−a}`. Up to shape 1 it
/// grows without bound: the rate may be so small that an old copy is worth much.
pub fn averaged_gain(x: f64, shape: f64) -> f64 {
    let y = x / shape;
    if x <= 0.0 || y < 1e-6 {
        return gain(x);
    }
    if is_small(x, y) {
        // The moments of the Gamma distribution in the series of g.
        let moment = |k: f64| 1.0 + k / shape;
        let third = 1.0 / 8.0 - x * moment(3.0) * (1.0 / 30.0 - x * moment(4.0) / 144.0);
        return x * x * (0.5 - x * moment(1.0) * (1.0 / 3.0 - x * moment(2.0) * third));
    }
    let (first, left) = averaged_terms(y, shape);
    shape * first - x * left
}

/// Returns whether the closed form loses digits at `x` and `y = x/shape`, and the series needs
/// five terms.
fn is_small(x: f64, y: f64) -> bool {
    x < 2e-3 && y < 1e-3
}

/// Returns `[1 − (1+y)^{1−a}]/(a−1)` and `(1+y)^{−a}` for shape a.
fn averaged_terms(y: f64, shape: f64) -> (f64, f64) {
    let (log, over) = (y.ln_1p(), shape - 1.0);
    if over.abs() < 1e-9 {
        return (log, (-shape * log).exp());
    }
    let less = (-over * log).exp_m1();
    // One exponential serves both terms, unless the sum would cancel.
    let left = match less > -0.999 {
        true => (1.0 + less) / (1.0 + y),
        false => (-shape * log).exp(),
    };
    (-less / over, left)
}

/// Returns the `x` at which [`averaged_gain`] is `y`, or a smaller `x` if 12 steps do not reach
/// it.
///
/// Uses Newton's method on logarithms, where the function is increasing and concave. It starts
/// at `x = √(2y)`, which is below the result since the mean of g is at most x²/2, and so
/// converges from below. The derivative in x is `x(1 + x/shape)^{−(shape+1)}`.
pub fn age_of_averaged_gain(y: f64, shape: f64) -> f64 {
    if y <= 0.0 {
        return 0.0;
    }
    let mut x = (2.0 * y).sqrt();
    for _ in 0..12 {
        let ratio = x / shape;
        let (first, left) = averaged_terms(ratio, shape);
        let found = match is_small(x, ratio) || ratio < 1e-6 {
            true => averaged_gain(x, shape),
            false => shape * first - x * left,
        };
        let slope = x * left / (1.0 + ratio);
        let step = (y / found).ln() * found / (x * slope);
        if step.is_nan() || step <= 0.0 {
            break;
        }
        x *= step.min(50.0).exp();
        // The error after a step is about its square.
        if step < 1e-8 {
            break;
        }
    }
    x
}

/// Returns the age at which `g` is `y`: `−1 − W₋₁(−(1−y)/e)`. 0 for `y` at most 0, infinite for
/// `y` at least 1.
///
/// Uses Newton's method: on `g` itself where `g` is small, and otherwise on
/// `x − ln(1+x) = −ln(1−y)`, starting at the upper bound of Chatzigeorgiou ("Bounds on the
/// Lambert function", 2013). Both functions are convex there, so the iteration converges from
/// one side.
pub fn age_of_gain(y: f64) -> f64 {
    if y <= 0.0 {
        return 0.0;
    }
    if y >= 1.0 {
        return f64::INFINITY;
    }
    if y < BEND {
        return newton((2.0 * y).sqrt(), |x| (gain(x) - y) / (x * (-x).exp()));
    }
    let depth = -(-y).ln_1p();
    let above = (2.0 * depth).sqrt() + depth;
    newton(above, |x| (x - x.ln_1p() - depth) * (1.0 + x) / x)
}

fn newton(start: f64, step: impl Fn(f64) -> f64) -> f64 {
    let mut x = start;
    for _ in 0..50 {
        let next = x - step(x);
        if (next - x).abs() <= 1e-15 * x {
            return next;
        }
        x = next;
    }
    x
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn gains_equal_the_formula() {
        for (x, expected) in [
            (-1.0, 0.0),
            (0.0, 0.0),
            (1e-8, 5e-17 - 1e-24 / 3.0),
            (1.0, BEND),
            (2.0, 0.593_994_150_290_161_9),
            (50.0, 1.0 - 51.0 * (-50_f64).exp()),
            (f64::INFINITY, 1.0),
        ] {
            let found = gain(x);
            assert!((found - expected).abs() <= 1e-15 * expected, "{x}: {found}");
        }
        let (below, above) = (gain(SMALL - 1e-12), gain(SMALL));
        assert!((above - below).abs() < 1e-12, "the two forms meet");
        assert_eq!(age_of_gain(-0.5), 0.0);
        assert_eq!(age_of_gain(1.0), f64::INFINITY);
        assert!((age_of_gain(BEND) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn averaged_gains_are_integrals_over_the_gamma_distribution() {
        for (x, shape) in [
            (1e-3, 20.0),
            (0.01, 0.5),
            (0.3, 1.0),
            (2.0, 1.0),
            (5.0, 3.0),
            (40.0, 0.3),
            // Thousands of changes: x is large although x/shape is small.
            (3.0, 4_000.0),
        ] {
            // ∫ g(λx)/λ · λ^{a−1} e^{−aλ} dλ over ∫ λ^{a−1} e^{−aλ} dλ, in ln λ.
            let (mut sum, mut weights) = (0.0, 0.0);
            for step in -4_000_000..60_000 {
                let log = f64::from(step) * 1e-4;
                let weight = (shape * (log - log.exp() + 1.0)).exp();
                weights += weight;
                sum += weight * gain(x * log.exp()) / log.exp();
            }
            let (found, expected) = (averaged_gain(x, shape), sum / weights);
            assert!(
                (found / expected - 1.0).abs() < 1e-6,
                "{x} {shape}: {found} {expected}"
            );
        }
        assert_eq!(averaged_gain(2.0, f64::INFINITY), gain(2.0));
        assert!((averaged_gain(2.0, 1e9) - gain(2.0)).abs() < 1e-8);
        assert_eq!(averaged_gain(-1.0, 2.0), 0.0);
    }

    proptest! {
        #[test]
        fn averaged_gains_never_fall_with_age(exponent in -14.0..5.0_f64, step in 1e-3..1.0_f64, shape in 0.3..60.0_f64) {
            let x = exponent.exp();
            let step = step.powi(3);
            let (one, more) = (averaged_gain(x, shape), averaged_gain(x * (1.0 + step), shape));
            prop_assert!(one <= more, "{x} {shape}: {one} {more}");
        }

        #[test]
        fn age_of_averaged_gain_inverts_averaged_gain(exponent in -12.0..2.0_f64, shape in 0.3..60.0_f64) {
            let x = exponent.exp();
            let found = age_of_averaged_gain(averaged_gain(x, shape), shape);
            // Where the function is nearly flat, a small error in y gives a larger error in x.
            prop_assert!((found / x - 1.0).abs() < 1e-6, "{x} {shape}: {found}");
        }

        #[test]
        fn age_of_gain_inverts_gain(exponent in -140.0..3.4_f64) {
            let x = exponent.exp();
            let found = age_of_gain(gain(x));
            // Near y = 1 few digits of 1 − y are left: an error of ε in y is one of ε·e^x/x in
            // x.
            let room = 1e-14 + 4.0 * f64::EPSILON * x.exp() / (x * x.min(1.0));
            let room = if x < 1.0 { 1e-13 } else { room };
            prop_assert!((found - x).abs() <= room * x, "{x} came back as {found}");
        }

        #[test]
        fn a_larger_gain_has_a_greater_age(y in 1e-300..1.0_f64, more in 1e-6..1.0_f64) {
            let later = y + (1.0 - y) * more;
            prop_assert!(age_of_gain(later) > age_of_gain(y));
        }
    }
}
