//! Claims that could not fail in a study.
//!
//! They check that a formula or a simulator was written correctly. They say nothing about the web.

use super::{PublishedClaim, Study};

impl Study {
    /// Returns why a claim of this study holds by construction; `None` if the world decided the
    /// claim, or if it did not hold.
    pub fn by_construction(&self, claim: &PublishedClaim) -> Option<&'static str> {
        let why = match claim.id {
            "UO1" => "the closed forms follow from the definition of the measure",
            "BK1" | "BK2" | "BK3" | "BK4" | "BK5" => "arithmetic with the published numbers",
            "BK6" => "it follows from what the modes are defined to do",
            "UC2" => "the format was chosen so",
            "UC6" => "it follows from the definition of quality",
            "E1" if self.findings.world == "invented:sources" => "it is a parameter of this world",
            "E2" if self.findings.world == "invented:sources" => {
                "a parameter of this world was fitted to it"
            }
            _ => return None,
        };
        claim.holds.then_some(why)
    }
}
