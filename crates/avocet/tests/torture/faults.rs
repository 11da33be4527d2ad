//! Torture by a failing disk: `EIO` from a sync or `ENOSPC` from a write, once or from then on.
//!
//! If the fault hits a file of a commit, the program stops with exit code 1 and an error that names
//! the path. When the disk works again, the same command finishes, whether or not the power was cut
//! in between.

use rand::RngExt;

use crate::disk::{DiskFaults, Survival};
use crate::kills::{COST, crawl, plan, repeats, reported};
use crate::oracle;
use crate::power::Rig;
use crate::rounds::{Round, rounds};
use crate::webs::serve;

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_disk_stops_the_program_and_costs_nothing_that_was_committed() {
    rounds("disk faults", faults).await;
}

async fn faults(mut round: Round) {
    let serving = serve(plan(round.seed, round.size(100, 300))).await;
    let homes = serving.homes();
    let crawl = crawl(&homes);
    let mut stops = 0;
    let mut expected = None;
    for _ in 0..round.size(1, 12) {
        let Some(mut rig) = Rig::new() else {
            return;
        };
        let asked = repeats(&serving) + serving.log().counts().len() as u32;
        for _ in 0..3 {
            let most = [5, 40, 150][round.chance.random_range(0..3)];
            let at = round.chance.random_range(0..most);
            let (sync, write) = match round.chance.random_bool(0.5) {
                true => (Some(at), None),
                // A crawl writes about ten times as often as it syncs.
                false => (None, Some(at * 10)),
            };
            let all_later = round.chance.random_bool(0.5);
            let fault = DiskFaults {
                sync,
                write,
                all_later,
                ..DiskFaults::default()
            };
            eprintln!("torture disk faults: {fault:?}");
            rig.disk.lock().faults = fault;
            let ended = rig.subject.end(&crawl);
            let hit = std::mem::take(&mut rig.disk.lock().faults).hit;
            // A fault in these files must stop the program, because they hold the commits.
            // Libraries retry work on other files. A single failed write need not stop it: the
            // kernel may report the write as short, and then `write_all` writes the rest.
            let commits = |path: &String| path.ends_with(".jnl") || path.ends_with(".open");
            if let Some(path) = hit.iter().find(|path| commits(path))
                && (sync.is_some() || all_later)
            {
                assert_eq!(ended.code(), 1, "{path} could not be written: {ended}");
            }
            if ended.code() != 0 {
                assert_eq!(ended.code(), 1, "{ended}");
                assert!(!hit.is_empty(), "{ended}");
                let store = rig.subject.store();
                let named = ended.errors.contains(store.to_str().unwrap());
                assert!(named, "names nothing, hit {hit:?}: {ended}");
                stops += 1;
            }
            if round.chance.random_bool(0.5) {
                rig.cut(Survival::draw(&mut round.chance), &mut round.chance);
            }
        }
        rig.subject.run(&crawl);
        rig.subject.verified();
        let pages = reported(&mut rig.subject);
        assert_eq!(expected.get_or_insert_with(|| pages.clone()), &pages);
        let again = repeats(&serving) + serving.log().counts().len() as u32 - asked;
        let cost = again.saturating_sub(pages.len() as u32);
        assert!(cost <= 3 * COST + homes.len() as u32, "{cost} repeated");
        oracle::check_archive(&rig.subject.warcs());
    }
    eprintln!("torture disk faults: {stops} stops");
}
