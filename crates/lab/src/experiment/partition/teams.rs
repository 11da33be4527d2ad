//! The teams that are compared: how their crawlers divide pages and seeds.

use super::seeds::SeedChoice;
use crate::LabError;
use crate::experiment::ExperimentSetup;
use crate::run::{Confinement, Coordination};

/// What the hash of a static team is computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DivisionKey {
    /// The registrable domain, or the host in a web of one domain.
    Name,
    /// The IP address of the host.
    Address,
}

/// A way in which several crawlers work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TeamKind {
    pub name: &'static str,
    pub coordination: Coordination,
    pub key: DivisionKey,
    /// Which crawler gets which seed. Coordinated crawlers pass a seed on to its owner.
    pub seeds: SeedChoice,
}

impl TeamKind {
    const fn independent(name: &'static str, seeds: SeedChoice) -> Self {
        Self {
            name,
            coordination: Coordination::Independent,
            key: DivisionKey::Name,
            seeds,
        }
    }

    const fn coordinated(name: &'static str, coordination: Coordination) -> Self {
        Self {
            name,
            coordination,
            key: DivisionKey::Name,
            seeds: SeedChoice::Dealt,
        }
    }

    const fn by_address(name: &'static str, confinement: Confinement) -> Self {
        Self {
            key: DivisionKey::Address,
            ..Self::coordinated(name, Coordination::Static(confinement))
        }
    }
}

/// All teams.
pub(super) const TEAMS: [TeamKind; 13] = [
    TeamKind::independent("independent", SeedChoice::Dealt),
    TeamKind::independent("independent-same", SeedChoice::Same),
    TeamKind::independent("independent-hash", SeedChoice::Hash),
    TeamKind::independent("independent-near", SeedChoice::Near),
    TeamKind::coordinated(
        "static-firewall",
        Coordination::Static(Confinement::Firewall),
    ),
    TeamKind::coordinated(
        "static-crossover",
        Coordination::Static(Confinement::Crossover),
    ),
    TeamKind::coordinated(
        "static-exchange",
        Coordination::Static(Confinement::Exchange),
    ),
    TeamKind::by_address("address-firewall", Confinement::Firewall),
    TeamKind::by_address("address-crossover", Confinement::Crossover),
    TeamKind::by_address("address-exchange", Confinement::Exchange),
    TeamKind::coordinated(
        "dynamic-firewall",
        Coordination::Dynamic(Confinement::Firewall),
    ),
    TeamKind::coordinated(
        "dynamic-crossover",
        Coordination::Dynamic(Confinement::Crossover),
    ),
    TeamKind::coordinated(
        "dynamic-exchange",
        Coordination::Dynamic(Confinement::Exchange),
    ),
];

/// Describes the teams for `--help`.
pub fn help() -> &'static str {
    "Teams (--policies):\n  \
     independent       no coordination; seeds are dealt in turn\n  \
     independent-same  every crawler gets all seeds\n  \
     independent-hash  the hash of a seed's domain decides which crawler gets it\n  \
     independent-near  seeds that reach the same pages go to one crawler; this knows the whole web\n  \
     static-MODE       the hash of the domain decides who fetches a page (of the host, in a web of one domain)\n  \
     address-MODE      the IP address of the host, modulo the number of crawlers, decides\n  \
     dynamic-MODE      a supervisor assigns each new host to the crawler with the fewest waiting pages\n\
     Modes: firewall (ignore pages of others), crossover (fetch them if nothing else is left), exchange (send them \
     to their crawler)"
}

/// Returns the teams that the user named, or all; also the one that the others are compared with.
/// There are no duplicates.
pub(super) fn chosen(setting: &ExperimentSetup) -> Result<Vec<TeamKind>, LabError> {
    let mut teams = match setting.policies.is_empty() {
        true => TEAMS.to_vec(),
        false => Vec::new(),
    };
    for name in setting.policies.iter().chain(&setting.against) {
        let Some(team) = TEAMS.iter().find(|team| team.name == name) else {
            let known = TEAMS.map(|team| team.name).join(", ");
            return Err(LabError::Wish(format!(
                "{name:?} is not a policy of this experiment; there are {known}"
            )));
        };
        if !teams.contains(team) {
            teams.push(*team);
        }
    }
    Ok(teams)
}
