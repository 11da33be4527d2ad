//! One simulation: nodes that come and go, and faults of the broker, all drawn from a seed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cluster::member::Order;
use cluster::member::{Assignment, MemberSettings};
use cluster::message::NodeName;
use cluster::{Division, Slot};
use policy::Moment;
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::{Instant, sleep, sleep_until};

use crate::disk::SharedDisk;
use crate::invariants::Folds;
use crate::model::{BrokerState, FaultRates, ModelBroker};
use crate::node::{Common, Process};
use crate::random::SimRandom;
use crate::web::HonestWeb;

/// Longest time after the last fault until the crawl is complete.
const PATIENCE: Duration = Duration::from_secs(150);

/// Time beyond the silence until every slot has an owner again.
const TAKEOVER: Duration = Duration::from_secs(15);

/// Something that happens to the cluster.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Kill { disk_lost: bool, down: u64 },
    Leave { down: u64 },
    Start,
    Pause(u64),
    Resume,
    Cut(u64),
    Away(u64),
    Full(u64),
    Drain(bool),
    Move(u16),
}

/// A node and its present process.
struct SimMachine {
    disk: SharedDisk,
    process: Option<(Rc<Process>, JoinHandle<()>)>,
    starts: u64,
}

/// A simulation.
pub struct SimCluster {
    common: Rc<Common>,
    state: Arc<Mutex<BrokerState>>,
    machines: Vec<SimMachine>,
    random: SimRandom,
    agenda: BTreeMap<(u64, u64), (usize, Fault)>,
    sequence: u64,
}

/// What a simulation did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClusterOutcome {
    pub fetches: usize,
    pub repeats: usize,
    pub terms: usize,
    pub messages: usize,
}

impl SimCluster {
    /// Draws a simulation.
    pub fn draw(seed: u64) -> Self {
        let mut random = SimRandom::new(seed);
        let web = HonestWeb::invent(&mut random.fork());
        let mut rate = |values: &[f64]| random.pick(values);
        let rates = FaultRates {
            lost_answer: rate(&[0.0, 0.0, 0.03, 0.2]),
            late: rate(&[0.0, 0.0, 0.03, 0.1]),
            slow: rate(&[0.0, 0.02, 0.2]),
            doubled: rate(&[0.0, 0.3]),
            lost_beat: rate(&[0.0, 0.0, 0.0, 0.3, 0.7]),
        };
        let common = Rc::new(Common {
            address: None,
            delay: Duration::ZERO,
            requests: RefCell::default(),
            fetches: RefCell::new(vec![0; web.urls.len()]),
            refused: RefCell::default(),
            web,
            division: Division::new(random.pick(&[2, 4, 8])).expect("a power of two"),
            silence: Duration::from_secs(random.pick(&[3, 6, 10])),
            archived: random.chance(0.3),
            commit_millis: random.pick(&[1, 50, 1_000]),
            strict: rates.lost_beat == 0.0,
            started: Instant::now(),
            wasted: Cell::new(0),
            terms: Cell::new(0),
            trace: std::env::var_os("AVOCET_TRACE").is_some(),
        });
        let machine = || SimMachine {
            disk: SharedDisk::default(),
            process: None,
            starts: 0,
        };
        let nodes = random.between(2, 4) as usize;
        let mut cluster = Self {
            machines: (0..nodes).map(|_| machine()).collect(),
            state: Arc::new(Mutex::new(BrokerState::new(random.fork(), rates))),
            common,
            random,
            agenda: BTreeMap::new(),
            sequence: 0,
        };
        cluster.plan();
        cluster
    }

    /// Runs two nodes without faults. Each owns one of two sites on one address, and the delay
    /// between two requests to a server is a second. Returns the time of each request, and its
    /// node.
    pub async fn share_an_address() -> Vec<(Instant, usize)> {
        let mut cluster = Self::draw(1);
        let division = Division::new(2).expect("a power of two");
        let web = HonestWeb::in_two_slots(division, 400);
        cluster.state.lock().expect("no panic").rates = FaultRates::default();
        cluster.common = Rc::new(Common {
            fetches: RefCell::new(vec![0; web.urls.len()]),
            web,
            refused: RefCell::default(),
            division,
            silence: Duration::from_secs(3),
            archived: false,
            commit_millis: 1,
            strict: true,
            started: Instant::now(),
            address: Some(IpAddr::from([192, 0, 2, 1])),
            delay: Duration::from_secs(1),
            requests: RefCell::default(),
            wasted: Cell::new(0),
            terms: Cell::new(0),
            trace: false,
        });
        cluster.machines.truncate(2);
        (0..2).for_each(|node| cluster.start(node));
        sleep(Duration::from_secs(120)).await;
        cluster.look_for_failure().await;
        cluster.common.requests.take()
    }

    /// Draws what happens to the nodes and the broker.
    fn plan(&mut self) {
        for node in 0..self.machines.len() {
            let late = self.random.chance(0.3);
            let at = if late {
                self.random.between(0, 20_000)
            } else {
                self.random.between(0, 300)
            };
            self.schedule(at, node, Fault::Start);
        }
        for _ in 0..self.random.between(0, 6) {
            let at = self.random.between(500, 30_000);
            let node = self.random.below(self.machines.len());
            let time = self.random.pick(&[300, 2_000, 8_000, 15_000]);
            let time = self.random.between(time / 2, time);
            let slots = self.common.division.slots().count() as u64;
            let slot = (self.random.bits() % slots) as u16;
            let fault = match self.random.below(10) {
                0 | 1 => Fault::Kill {
                    disk_lost: false,
                    down: time,
                },
                2 => Fault::Kill {
                    disk_lost: true,
                    down: time,
                },
                3 => Fault::Leave { down: time },
                4 | 5 => Fault::Pause(time),
                6 => Fault::Cut(time),
                7 => match self.random.chance(0.5) {
                    true => Fault::Away(time),
                    false => Fault::Full(time),
                },
                8 => Fault::Drain(true),
                _ => Fault::Move(slot),
            };
            self.schedule(at, node, fault);
            if let Fault::Drain(_) = fault {
                self.schedule(at + time, node, Fault::Drain(false));
            }
        }
    }

    fn schedule(&mut self, at: u64, node: usize, fault: Fault) {
        self.sequence += 1;
        self.agenda.insert((at, self.sequence), (node, fault));
    }

    /// Runs it until all faults are over and the crawl is complete. Panics if it does not become
    /// complete, or an invariant does not hold.
    pub async fn run(mut self) -> ClusterOutcome {
        let started = self.common.started;
        while let Some(((at, _), (node, fault))) = self.agenda.pop_first() {
            sleep_until(started + Duration::from_millis(at)).await;
            self.look_for_failure().await;
            if self.common.trace {
                eprintln!("{at} ms: {node} {fault:?}");
            }
            self.happen(at, node, fault);
        }
        self.state.lock().expect("no panic").heal();
        let healed = Instant::now();
        loop {
            sleep(Duration::from_millis(500)).await;
            self.look_for_failure().await;
            let living = self.machines.iter();
            let living = living.filter_map(|machine| machine.process.as_ref());
            let living: Vec<&Process> = living.map(|(process, _)| &**process).collect();
            let state = self.state.lock().expect("no panic");
            let folds = Folds::of(&state);
            let waited = healed.elapsed();
            let unowned = folds.unowned(&self.common, &living);
            if waited > self.common.silence + TAKEOVER
                && let Some(why) = unowned
            {
                panic!("{why} {waited:?} after the last fault");
            }
            match folds.missing(&self.common, &living) {
                None => {
                    folds.check(&self.common);
                    let fetches = self.common.fetches.borrow();
                    let made = fetches.iter().sum::<u32>() as usize;
                    return ClusterOutcome {
                        fetches: made,
                        repeats: made - fetches.len(),
                        terms: self.common.terms.get(),
                        messages: state.logs.values().map(Vec::len).sum(),
                    };
                }
                Some(why) if waited > PATIENCE => panic!("{why} {waited:?} after the last fault"),
                Some(_) => {}
            }
        }
    }

    /// Panics with the panic of a node. A node that has left is no failure.
    async fn look_for_failure(&mut self) {
        for machine in &mut self.machines {
            if let Some((_, task)) = &mut machine.process
                && task.is_finished()
            {
                if let Err(error) = task.await {
                    std::panic::resume_unwind(error.into_panic());
                }
                machine.process = None;
            }
        }
    }

    fn start(&mut self, node: usize) {
        let machine = &mut self.machines[node];
        if machine.process.is_some() {
            return;
        }
        machine.starts += 1;
        let settings = MemberSettings {
            name: NodeName::new(&format!("node-{node}")).expect("a name"),
            incarnation: machine.starts,
            capacity: 1.0,
            division: self.common.division,
            silence: self.common.silence,
            fixed: None,
        };
        let broker = ModelBroker {
            node,
            state: self.state.clone(),
        };
        let process = Process::new(
            self.common.clone(),
            broker,
            machine.disk.clone(),
            self.random.fork(),
            settings,
        );
        let task = spawn_local(process.clone().run());
        machine.process = Some((process, task));
    }

    fn happen(&mut self, at: u64, node: usize, fault: Fault) {
        let now = Instant::now();
        let millis = Duration::from_millis;
        match fault {
            Fault::Start => return self.start(node),
            Fault::Away(time) => {
                self.state.lock().expect("no panic").away_until = now + millis(time)
            }
            Fault::Full(time) => {
                self.state.lock().expect("no panic").full_until = now + millis(time)
            }
            Fault::Cut(time) => {
                let mut state = self.state.lock().expect("no panic");
                state.cut_until.insert(node, now + millis(time));
            }
            _ => {}
        }
        let machine = &mut self.machines[node];
        let Some((process, task)) = &machine.process else {
            return;
        };
        match fault {
            Fault::Kill { disk_lost, down } => {
                task.abort();
                process.waste(process.open.get());
                machine.process = None;
                if disk_lost {
                    machine.disk = SharedDisk::default();
                }
                self.schedule(at + down, node, Fault::Start);
            }
            Fault::Leave { down } => {
                process.leave();
                self.schedule(at + down, node, Fault::Start);
                // The process may need longer to leave.
                self.schedule(at + down + 20_000, node, Fault::Start);
            }
            Fault::Pause(time) => {
                process.pause(true);
                self.schedule(at + time, node, Fault::Resume);
            }
            Fault::Resume => process.pause(false),
            Fault::Drain(draining) => self.order(node, &Order::Drain(draining)),
            Fault::Move(slot) => {
                let to = self.random.below(self.machines.len());
                let order = Order::Assign(Assignment {
                    slot: Slot(slot),
                    node: NodeName::new(&format!("node-{to}")).expect("a name"),
                    at: Moment::from_micros(at),
                });
                self.order(node, &order);
            }
            Fault::Start | Fault::Cut(_) | Fault::Away(_) | Fault::Full(_) => {}
        }
    }

    fn order(&self, node: usize, order: &Order) {
        let order = postcard::to_allocvec(order).expect("plain data");
        let mut state = self.state.lock().expect("no panic");
        state.order(node, order.into());
    }
}
