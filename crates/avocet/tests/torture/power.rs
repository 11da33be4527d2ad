//! Torture by power cuts at random instants: the process dies and the disk loses unsynced writes.
//!
//! Committed data survives every cut. A crawl that ended repeats no request. A crawl that was cut
//! repeats at most the requests that one kill may lose. Pages that the store reported after a cut
//! stay.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rand::RngExt;

use crate::disk::{Number, ROOT, SimulatedDisk, Survival};
use crate::kills::{COST, crawl, instant, plan, repeats, reported};
use crate::mount::{Mounted, SharedDisk};
use crate::oracle;
use crate::rounds::{Round, rounds};
use crate::subject::TortureSubject;
use crate::webs::serve;

/// A store on a simulated disk whose power can be cut.
pub struct Rig {
    // Dropped first, because a mounted directory cannot be removed.
    mounted: Option<Mounted>,
    pub subject: TortureSubject,
    pub disk: SharedDisk,
}

impl Rig {
    /// Mounts an empty store. Returns `None` and prints the reason if FUSE cannot be used.
    pub fn new() -> Option<Self> {
        let mut rig = Self {
            mounted: None,
            subject: TortureSubject::new(),
            disk: SharedDisk::new(),
        };
        match rig.disk.mount(&rig.subject.store()) {
            Ok(mounted) => rig.mounted = Some(mounted),
            Err(error) => {
                eprintln!("skipped: FUSE cannot be used here: {error}");
                return None;
            }
        }
        Some(rig)
    }

    /// Cuts the power and starts the machine again. No process may use the store.
    pub fn cut(&mut self, survival: Survival, chance: &mut impl rand::Rng) {
        self.mounted.take().unwrap().unmount();
        self.disk.lock().cut(survival, chance);
        self.mounted = Some(self.disk.mount(&self.subject.store()).unwrap());
    }
}

/// Copies the disk of a failed round to a directory for inspection.
impl Drop for Rig {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let disk = self.disk.lock();
            copy_out(&disk, ROOT, &self.subject.path("disk"));
        }
    }
}

fn copy_out(disk: &SimulatedDisk, directory: Number, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for (name, number) in &disk.entries(directory).unwrap().cached {
        let path = to.join(name);
        match disk.cached(*number) {
            Some(bytes) => fs::write(path, bytes).unwrap(),
            None => copy_out(disk, *number, &path),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_power_cut_loses_nothing_that_was_committed() {
    rounds("power cuts", power).await;
}

async fn power(mut round: Round) {
    let serving = serve(plan(round.seed, round.size(100, 400))).await;
    let homes = serving.homes();
    let crawl = crawl(&homes);
    let Some(mut rig) = Rig::new() else {
        return;
    };
    let (mut cuts, mut known) = (0, BTreeSet::new());
    for step in 0..round.size(3, 25) {
        let time = 2 * instant(&mut round.chance);
        let ended = rig.subject.start(&crawl).kill_after(time);
        assert!(ended.was_killed() || ended.code() == 0, "{ended}");
        let survival = Survival::draw(&mut round.chance);
        eprintln!("torture power cuts: {survival:?} after {time:?} of crawl");
        rig.cut(survival, &mut round.chance);
        cuts += 1;
        if step % 2 == 1 {
            let now = reported(&mut rig.subject);
            assert!(known.is_subset(&now), "lost: {:?}", known.difference(&now));
            known = now;
        }
    }
    rig.subject.run(&crawl);
    let asked = repeats(&serving);
    assert!(asked <= cuts * COST, "{asked} repeated by {cuts} cuts");
    let expected = reported(&mut rig.subject);
    assert!(known.is_subset(&expected));

    // The work of a command that has ended is durable, so no request is repeated.
    for command in [&crawl[..], &["rebuild"]] {
        rig.cut(Survival::draw(&mut round.chance), &mut round.chance);
        rig.subject.run(command);
        let survival = Survival::draw(&mut round.chance);
        eprintln!(
            "torture power cuts: {survival:?} after {} ended",
            command[0]
        );
        rig.cut(survival, &mut round.chance);
        rig.subject.verified();
        assert_eq!(reported(&mut rig.subject), expected);
        rig.subject.run(&crawl);
        assert_eq!(repeats(&serving), asked, "after {}", command[0]);
    }
    oracle::check_archive(&rig.subject.warcs());
    living(&mut round, &mut rig, &serving, &crawl);
}

/// Cuts the power during further commands, between which pages change. The store must stay
/// consistent and keep all pages.
fn living(round: &mut Round, rig: &mut Rig, serving: &testweb::site::ServedWeb, crawl: &[&str]) {
    let mut elsewhere = TortureSubject::new();
    serving.advance(3_600.0);
    elsewhere.run(crawl);
    let expected = reported(&mut elsewhere);
    let warc = elsewhere.warcs().remove(0);
    let mut run = vec!["run", "--no-serve", "--budget", "200/s"];
    run.extend(&crawl[1..]);
    let refresh = [crawl, &["--refresh-after", "1s"]].concat();
    let commands: [&[&str]; 4] = [
        &run,
        &refresh,
        &["import", "warc", warc.to_str().unwrap()],
        &["rebuild"],
    ];
    for _ in 0..round.size(1, 30) {
        serving.advance(round.chance.random_range(60.0..3_600.0));
        let command = commands[round.chance.random_range(0..commands.len())];
        let time = 2 * instant(&mut round.chance);
        let ended = rig.subject.start(command).kill_after(time);
        assert!(ended.was_killed() || ended.code() == 0, "{ended}");
        let survival = Survival::draw(&mut round.chance);
        eprintln!(
            "torture power cuts: {survival:?} after {time:?} of {}",
            command[0]
        );
        rig.cut(survival, &mut round.chance);
        rig.subject.verified();
        assert_eq!(reported(&mut rig.subject), expected);
    }
    rig.subject.run(crawl);
    rig.subject.verified();
    oracle::check_archive(&rig.subject.warcs());
}
