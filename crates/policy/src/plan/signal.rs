//! How old does a word from others make a copy, and what is a visit worth then?
//!
//! Busa-Fekete et al. (2025). A page changes at rate Δ. A share r of its changes, the recall, is signalled, by a sitemap
//! or a feed, and false signals come at rate ν. With `γ = rΔ + ν` and `α = (1−r)Δ`, a copy of age τ after n signals
//! is fresh with probability `e^{−ατ}(ν/γ)^n = e^{−α(τ + nβ)}`, `β = ln(γ/ν)/α`: a signal ages it by β.

use std::cell::OnceCell;

use super::gain::gain;

/// Signals that are reckoned with one by one. Later ones are so many that only their mean number counts
/// ([`Signalled::tail`]); a test holds this against 400 of them.
const TERMS: u32 = 48;
/// Below this many nats a signal tells nothing, and β is a fraction of rounding errors.
const LEAST: f64 = 1e-6;
/// A larger share of changes is not taken for signalled: whoever claims all of them is trusted too much when they
/// fall silent, and the series above would have to be longer.
const MOST: f64 = 0.95;

/// A page whose changes are signalled.
#[derive(Debug, Clone)]
pub struct Signalled {
    /// Δ, changes in unit time.
    rate: f64,
    /// γ, signals in unit time.
    signals: f64,
    /// α, changes that nobody signals, in unit time.
    silent: f64,
    /// ν, false signals in unit time.
    wrong: f64,
    /// β; `None` if a signal tells nothing.
    jump: Option<f64>,
    /// Worth and G where the series ends.
    end: OnceCell<(f64, f64)>,
}

impl Signalled {
    /// A page that changes at `rate`, above zero, with this recall (at most .95 is believed) and this rate of
    /// false signals. Without any, one signal is certainty: the copy is infinitely old.
    pub fn new(rate: f64, recall: f64, wrong: f64) -> Self {
        let recall = recall.clamp(0.0, MOST);
        let (signals, silent) = (recall * rate + wrong, (1.0 - recall) * rate);
        let nats = (recall * rate / wrong).ln_1p();
        Self {
            rate,
            signals,
            silent,
            wrong,
            jump: (nats > LEAST).then(|| nats / silent),
            end: OnceCell::new(),
        }
    }

    /// τ_eff: how old a copy is after so long and so many signals.
    pub fn age(&self, time: f64, signals: u16) -> f64 {
        match self.jump {
            Some(jump) if signals > 0 => time + jump * f64::from(signals),
            _ => time,
        }
    }

    /// What a visit is worth at τ_eff = ι, if a fresh copy is worth 1 in unit time: `F(ι) − e^{−αι}·G(ι)` with
    /// `F(ι) = (1/(Δ+ν)) Σ_i (ν/(Δ+ν))^i R_i((Δ+ν)(ι − iβ)⁺)`.
    ///
    /// It rises from 0 to `1/Δ`, and is `g(Δι)/Δ` if signals tell nothing.
    pub fn worth(&self, age: f64) -> f64 {
        let Some(jump) = self.jump else {
            return gain(self.rate * age) / self.rate;
        };
        if age.is_infinite() {
            return self.rate.recip();
        }
        let end = jump * f64::from(TERMS);
        if age <= end {
            return self.series(jump, age);
        }
        let ends = || (self.series(jump, end), self.passage(jump, end));
        let &(worth, passage) = self.end.get_or_init(ends);
        // The tail is right to six digits or more, the limit exactly.
        (worth + self.tail(jump, end, passage, age - end)).min(self.rate.recip())
    }

    /// The worth, term by term. F and G are nearly equal where a page seldom changes; taken together each term is
    /// `(ν/γ)^i/γ · [c^{i+1} R_i((α+γ)y) − e^{−αy} R_i(γy)]`, `y = ι − iβ`, `c = γ/(α+γ)`, which in powers of `c` less 1 loses no
    /// digits: `c^{i+1} − e^{−αy} − e^{−(α+γ)y} Σ_{j≤i} (γy)^j/j! · (c^{i+1−j} − 1)`.
    fn series(&self, jump: f64, age: f64) -> f64 {
        let logarithm = -(self.silent / self.signals).ln_1p();
        let power = |exponent: u32| (f64::from(exponent) * logarithm).exp_m1();
        let powers: [f64; TERMS as usize + 1] = std::array::from_fn(|k| power(k as u32));
        let (mut sum, mut share) = (0.0, 1.0);
        for (term, left) in lefts(jump, age) {
            let (mean, all) = (self.signals * left, (self.silent + self.signals) * left);
            // The first of the sum is taken from c^{i+1} − 1 at once: a young copy is all there is in it.
            let mut part =
                -(-self.silent * left).exp_m1() - powers[term as usize + 1] * (-all).exp_m1();
            let mut poisson = (-all).exp();
            for j in 1..=term {
                poisson *= mean / f64::from(j);
                part -= poisson * powers[(term + 1 - j) as usize];
            }
            sum += share * part;
            share *= self.wrong / self.signals;
        }
        sum / self.signals
    }

    /// `G(ι) = (1/γ) Σ_i R_i(γ(ι − iβ)⁺)`: the mean time to get to an age.
    fn passage(&self, jump: f64, age: f64) -> f64 {
        let each = lefts(jump, age).map(|(term, left)| more_than(term, self.signals * left));
        each.sum::<f64>() / self.signals
    }

    /// What is added after the series' end. The worth is `α∫e^{−αs}G(s)ds`, and G, the time in which steps of β at rate γ
    /// and the clock get somewhere, grows by `1/(1 + γβ)` on average (the renewal theorem).
    fn tail(&self, jump: f64, end: f64, passage: f64, more: f64) -> f64 {
        let slope = (1.0 + self.signals * jump).recip();
        let x = self.silent * more;
        let grown = passage * -(-x).exp_m1() + slope / self.silent * gain(x);
        (-self.silent * end).exp() * grown
    }
}

/// What is left of an age after so many jumps, as long as anything is. A jump may be infinite.
fn lefts(jump: f64, age: f64) -> impl Iterator<Item = (u32, f64)> {
    let left = move |term| match term {
        0 => age,
        _ => age - jump * f64::from(term),
    };
    let each = (0..TERMS).map(move |term| (term, left(term)));
    each.take_while(|&(_, left)| left > 0.0)
}

/// `R_i(x) = 1 − e^{−x} Σ_{j≤i} x^j/j!`: how likely a Poisson variable of mean `x` is more than `i`.
fn more_than(count: u32, x: f64) -> f64 {
    if count == 0 {
        return -(-x).exp_m1();
    }
    let mut term = (-x).exp();
    let mut sum = term;
    for j in 1..=count {
        term *= x / f64::from(j);
        sum += term;
    }
    (1.0 - sum).max(0.0)
}

#[cfg(test)]
mod tests;
