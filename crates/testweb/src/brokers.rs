//! NATS servers on loopback that a test or a benchmark can kill and start again.
//!
//! **Invariant:** the servers listen on 127.0.0.1 only, and are killed when they are dropped. Each
//! write is synced. A server that is started again has its data and its ports.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The NATS servers of one NATS cluster.
#[derive(Debug)]
pub struct NatsServers {
    directory: PathBuf,
    servers: Vec<NatsServer>,
    /// Whether Ctrl-C in a terminal does not reach the servers.
    shielded: bool,
}

#[derive(Debug)]
struct NatsServer {
    /// For clients.
    port: u16,
    /// For questions about its state, over HTTP.
    monitor: u16,
    process: Option<Child>,
}

impl NatsServers {
    /// Starts this number of servers, with their data below a directory. Does not wait for them.
    /// Fails with [`io::ErrorKind::NotFound`] if `nats-server` is not installed.
    pub fn start(directory: &Path, count: usize) -> io::Result<Self> {
        let mut servers = Self::configure(directory, count)?;
        servers.start_all()?;
        Ok(servers)
    }

    /// Starts servers as [`NatsServers::start`] does. Ctrl-C in a terminal does not reach them, so
    /// that the nodes of a crawl can end first.
    pub fn start_shielded(directory: &Path, count: usize) -> io::Result<Self> {
        let mut servers = Self::configure(directory, count)?;
        servers.shielded = true;
        servers.start_all()?;
        Ok(servers)
    }

    fn start_all(&mut self) -> io::Result<()> {
        (0..self.count()).try_for_each(|number| self.restart(number))
    }

    /// Writes the configuration of the servers.
    fn configure(directory: &Path, count: usize) -> io::Result<Self> {
        let ports = free_ports(3 * count)?;
        let routes: Vec<String> = ports[2 * count..]
            .iter()
            .map(|port| format!("\"nats://127.0.0.1:{port}\""))
            .collect();
        let mut servers = Vec::new();
        for number in 0..count {
            let [port, monitor, route] = [0, 1, 2].map(|kind| ports[kind * count + number]);
            let home = directory.join(number.to_string());
            fs::create_dir_all(&home)?;
            // Clients must use the addresses that they are given: a test puts a proxy in between.
            let cluster = format!(
                "cluster {{ name: test, listen: \"127.0.0.1:{route}\", no_advertise: true, routes: [{}] }}\n",
                routes.join(", ")
            );
            let config = format!(
                "server_name: s{number}\nlisten: \"127.0.0.1:{port}\"\nhttp: \"127.0.0.1:{monitor}\"\njetstream {{ store_dir: {:?}, sync_interval: always }}\n{}",
                home.join("data"),
                if count > 1 { &cluster } else { "" }
            );
            fs::write(home.join("nats.conf"), config)?;
            servers.push(NatsServer {
                port,
                monitor,
                process: None,
            });
        }
        Ok(Self {
            directory: directory.to_owned(),
            servers,
            shielded: false,
        })
    }

    /// Returns the number of servers.
    pub fn count(&self) -> usize {
        self.servers.len()
    }

    /// Returns the process numbers of the servers that run.
    pub fn processes(&self) -> impl Iterator<Item = u32> {
        let running = self
            .servers
            .iter()
            .filter_map(|server| server.process.as_ref());
        running.map(Child::id)
    }

    /// Returns the ports for clients, in the order of the servers.
    pub fn ports(&self) -> impl Iterator<Item = u16> {
        self.servers.iter().map(|server| server.port)
    }

    /// Returns the port at which a server answers questions about its state over HTTP.
    pub fn monitor(&self, number: usize) -> u16 {
        self.servers[number].monitor
    }

    /// Kills a server (SIGKILL).
    pub fn kill(&mut self, number: usize) {
        if let Some(mut process) = self.servers[number].process.take() {
            // A process that has ended already is as dead as it should be.
            process.kill().ok();
            process.wait().ok();
        }
    }

    /// Starts a server that was killed.
    pub fn restart(&mut self, number: usize) -> io::Result<()> {
        let home = self.directory.join(number.to_string());
        let log = File::options()
            .append(true)
            .create(true)
            .open(home.join("log"))?;
        let mut command = Command::new("nats-server");
        if self.shielded {
            // A terminal sends SIGINT to its foreground process group.
            command.process_group(0);
        }
        let process = command
            .arg("--config")
            .arg(home.join("nats.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        self.servers[number].process = Some(process);
        Ok(())
    }
}

impl Drop for NatsServers {
    fn drop(&mut self) {
        (0..self.count()).for_each(|number| self.kill(number));
    }
}

/// Returns ports of 127.0.0.1 that are free now. Another process could take one before its use.
fn free_ports(count: usize) -> io::Result<Vec<u16>> {
    let listen = |_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listeners: Vec<TcpListener> = (0..count).map(listen).collect::<io::Result<_>>()?;
    let ports = listeners
        .iter()
        .map(|listener| Ok(listener.local_addr()?.port()));
    ports.collect()
}
