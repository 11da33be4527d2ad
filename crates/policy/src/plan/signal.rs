//! The worth of a visit to a page whose changes are announced by hints (signals), from a
//! sitemap or a feed.
//!
//! Busa-Fekete et al. (2025). A page changes at rate Δ. A share r of its changes, the recall,
//! is signalled. False signals come at rate ν. Let `γ = rΔ + ν` and `α = (1−r)Δ`. A copy of age
//! τ after n signals is fresh with probability `e^{−ατ}(ν/γ)^n = e^{−α(τ + nβ)}`, where
//! `β = ln(γ/ν)/α`. So each signal ages the copy by β.

use std::cell::OnceCell;

use super::gain::gain;

/// Number of signals that the series treats one by one. After more signals only their mean
/// number matters ([`Signalled::tail`]). A test compares this with 400 terms.
const TERMS: u32 = 48;
/// Minimum information of a signal, in nats. A signal with less counts as carrying none, because β
/// would consist of rounding errors.
const LEAST: f64 = 1e-6;
/// Maximum recall that is assumed. A source that seems to signal all changes would be trusted too
/// much when it falls silent, and the series would need more terms.
const MOST: f64 = 0.95;

/// A page whose changes are signalled.
#[derive(Debug, Clone)]
pub struct Signalled {
    /// Δ: changes per unit of time.
    rate: f64,
    /// γ: signals per unit of time.
    signals: f64,
    /// α: unsignalled changes per unit of time.
    silent: f64,
    /// ν: false signals per unit of time.
    wrong: f64,
    /// β; `None` if a signal carries no information.
    jump: Option<f64>,
    /// The worth, and G (see [`Self::passage`]), at the age where the series ends.
    end: OnceCell<(f64, f64)>,
}

impl Signalled {
    /// Creates a page that changes at `rate`, above zero, with this recall (at most 0.95 is
    /// used) and this rate of false signals.
    ///
    /// If there are no false signals, one signal makes the copy infinitely old.
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

    /// Returns τ_eff: the effective age of a copy after this time and number of signals.
    pub fn age(&self, time: f64, signals: u16) -> f64 {
        match self.jump {
            Some(jump) if signals > 0 => time + jump * f64::from(signals),
            _ => time,
        }
    }

    /// Returns the worth of a visit at τ_eff = ι, if a fresh copy is worth 1 per unit of time:
    /// `F(ι) − e^{−αι}·G(ι)` with `F(ι) = (1/(Δ+ν)) Σ_i (ν/(Δ+ν))^i R_i((Δ+ν)(ι − iβ)⁺)`.
    /// G is `passage`, R_i is `more_than`, g is `gain`, and x⁺ is max(x, 0).
    ///
    /// The worth rises from 0 to `1/Δ`, and is `g(Δι)/Δ` if signals carry no information.
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
        // The tail is accurate to at least six digits. The minimum keeps the worth at or below its
        // exact limit, 1/Δ.
        (worth + self.tail(jump, end, passage, age - end)).min(self.rate.recip())
    }

    /// Returns the worth, term by term.
    ///
    /// F and G are nearly equal for a page that seldom changes, so their difference would lose
    /// digits. Combined, each term is `(ν/γ)^i/γ · [c^{i+1} R_i((α+γ)y) − e^{−αy} R_i(γy)]`,
    /// with `y = ι − iβ` and `c = γ/(α+γ)`. Written with `c^k − 1` it loses no digits:
    /// `c^{i+1} − e^{−αy} − e^{−(α+γ)y} Σ_{j≤i} (γy)^j/j! · (c^{i+1−j} − 1)`.
    fn series(&self, jump: f64, age: f64) -> f64 {
        let logarithm = -(self.silent / self.signals).ln_1p();
        let power = |exponent: u32| (f64::from(exponent) * logarithm).exp_m1();
        let powers: [f64; TERMS as usize + 1] = std::array::from_fn(|k| power(k as u32));
        let (mut sum, mut share) = (0.0, 1.0);
        for (term, left) in remaining_ages(jump, age) {
            let (mean, all) = (self.signals * left, (self.silent + self.signals) * left);
            // The term j = 0 of the sum is combined with `c^{i+1} − 1`, because the two nearly
            // cancel for a young copy.
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

    /// Returns `G(ι) = (1/γ) Σ_i R_i(γ(ι − iβ)⁺)`: the mean time until the effective age ι is
    /// reached.
    fn passage(&self, jump: f64, age: f64) -> f64 {
        let each =
            remaining_ages(jump, age).map(|(term, left)| more_than(term, self.signals * left));
        each.sum::<f64>() / self.signals
    }

    /// Returns the part of the worth that the ages from `end` to `end + more` add.
    ///
    /// The worth at age ι is `α∫₀^ι e^{−αs}G(s)ds`. Beyond the end, G grows by `1/(1 + γβ)` per
    /// unit of age on average (renewal theorem), because steps of β come at rate γ while time
    /// passes.
    fn tail(&self, jump: f64, end: f64, passage: f64, more: f64) -> f64 {
        let slope = (1.0 + self.signals * jump).recip();
        let x = self.silent * more;
        let grown = passage * -(-x).exp_m1() + slope / self.silent * gain(x);
        (-self.silent * end).exp() * grown
    }
}

/// Returns the part of an age that is left after each number of jumps, while it is positive. A
/// jump may be infinite.
fn remaining_ages(jump: f64, age: f64) -> impl Iterator<Item = (u32, f64)> {
    let left = move |term| match term {
        0 => age,
        _ => age - jump * f64::from(term),
    };
    let each = (0..TERMS).map(move |term| (term, left(term)));
    each.take_while(|&(_, left)| left > 0.0)
}

/// Returns `R_i(x) = 1 − e^{−x} Σ_{j≤i} x^j/j!`: the probability that a Poisson variable of
/// mean `x` exceeds `i`.
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
