//! A TCP proxy that misbehaves on command.
//!
//! Put between faucet and a server, it delays, slows, silences or resets connections while they are in use. Every
//! change takes effect at once on connections that are open, unless its documentation says otherwise.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::runtime;

/// Bytes moved at a time.
const PIECE: usize = 16 * 1024;

/// What happens to bytes that pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    #[default]
    Pass,
    Delay(Duration),
    Throttle(u32),
    Silent,
}

#[derive(Debug, Clone, Copy, Default)]
struct Orders {
    mode: Mode,
    refuse: bool,
    /// Goes up by one each time all open connections are to be reset.
    cuts: u64,
}

#[derive(Debug, Default)]
struct Shared {
    open: AtomicUsize,
    accepted: AtomicU64,
    to_server: AtomicU64,
    to_client: AtomicU64,
    lose_reply_to: Mutex<Option<Vec<u8>>>,
}

impl Shared {
    /// Whether these bytes hold the ones whose reply is to be lost; if so, that wish is used up.
    fn takes_reply_wish(&self, bytes: &[u8]) -> bool {
        let mut wish = self.lose_reply_to.lock().unwrap_or_else(PoisonError::into_inner);
        let hit = wish.as_ref().is_some_and(|needle| bytes.windows(needle.len()).any(|w| w == needle));
        if hit {
            *wish = None;
        }
        hit
    }
}

/// A running proxy. Stops, and resets what it carries, on drop.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    orders: watch::Sender<Orders>,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy on a free loopback port in front of `127.0.0.1:server_port`.
    pub fn start(server_port: u16) -> Self {
        let (orders, watch) = watch::channel(Orders::default());
        let shared = Arc::new(Shared::default());
        let port = crate::postgres::free_port();
        let listener = runtime::wait(TcpListener::bind((Ipv4Addr::LOCALHOST, port))).expect("a free port can be bound");
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, server_port));
        let task = runtime::handle().spawn(accept(listener, server, watch, shared.clone()));
        Self { port, orders, shared, task }
    }

    /// The port clients connect to, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The same URL with this proxy's port for the server's.
    pub fn through(&self, url: &str, server_port: u16) -> String {
        url.replace(&format!(":{server_port}/"), &format!(":{}/", self.port))
    }

    /// Holds every piece of data back for `time`, in both directions.
    pub fn delay(&self, time: Duration) {
        self.orders.send_modify(|o| o.mode = Mode::Delay(time));
    }

    /// Lets at most about `bytes_per_second` pass in each direction of each connection.
    pub fn throttle(&self, bytes_per_second: u32) {
        self.orders.send_modify(|o| o.mode = Mode::Throttle(bytes_per_second.max(1)));
    }

    /// Goes silent: connections stay open and new ones are taken, but nothing passes, not even their end.
    /// This is what a client sees when the other machine loses power or a firewall forgets the connection.
    pub fn half_open(&self) {
        self.orders.send_modify(|o| o.mode = Mode::Silent);
    }

    /// Back to passing everything on at once and taking connections; held-back bytes continue.
    pub fn resume(&self) {
        self.orders.send_modify(|o| (o.mode, o.refuse) = (Mode::Pass, false));
    }

    /// Resets (RST) all open connections. New ones are welcome.
    pub fn cut(&self) {
        self.orders.send_modify(|o| o.cuts += 1);
    }

    /// Resets all open connections and every new one until [`Proxy::resume`].
    pub fn refuse(&self) {
        self.orders.send_modify(|o| (o.refuse, o.cuts) = (true, o.cuts + 1));
    }

    /// Loses one answer: the next piece of client data that contains `needle` reaches the server, which acts on it;
    /// its reply is thrown away and the connection reset. `b"COMMIT"` makes a lost commit response.
    pub fn lose_reply_to(&self, needle: &[u8]) {
        *self.shared.lose_reply_to.lock().unwrap_or_else(PoisonError::into_inner) = Some(needle.to_vec());
    }

    /// Whether the wish of [`Proxy::lose_reply_to`] came true (or there was none).
    pub fn reply_was_lost(&self) -> bool {
        self.shared.lose_reply_to.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Connections open right now.
    pub fn connections(&self) -> usize {
        self.shared.open.load(Ordering::Relaxed)
    }

    /// Connections taken so far.
    pub fn accepted(&self) -> u64 {
        self.shared.accepted.load(Ordering::Relaxed)
    }

    /// Bytes passed from clients to the server so far.
    pub fn bytes_to_server(&self) -> u64 {
        self.shared.to_server.load(Ordering::Relaxed)
    }

    /// Bytes passed from the server to clients so far.
    pub fn bytes_to_client(&self) -> u64 {
        self.shared.to_client.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, orders: watch::Receiver<Orders>, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        let now = *orders.borrow();
        if now.refuse {
            let _ = client.set_zero_linger();
            continue;
        }
        let (orders, shared) = (orders.clone(), shared.clone());
        tokio::spawn(async move {
            shared.accepted.fetch_add(1, Ordering::Relaxed);
            shared.open.fetch_add(1, Ordering::Relaxed);
            carry(client, server, orders, now.cuts, &shared).await;
            shared.open.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Carries one connection until both directions end or it is cut.
async fn carry(mut client: TcpStream, server: SocketAddr, orders: watch::Receiver<Orders>, cuts: u64, shared: &Shared) {
    let Ok(mut server) = TcpStream::connect(server).await else {
        let _ = client.set_zero_linger();
        return;
    };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let finished = {
        let deaf = AtomicBool::new(false);
        let ((client_reads, client_writes), (server_reads, server_writes)) = (client.split(), server.split());
        let requests = pump_requests(client_reads, server_writes, orders.clone(), shared, &deaf);
        let replies = pump_replies(server_reads, client_writes, orders.clone(), shared, &deaf);
        let mut cut = orders;
        tokio::select! {
            outcome = async { tokio::try_join!(requests, replies) } => outcome.is_ok(),
            _ = cut.wait_for(|o| o.cuts > cuts) => false,
        }
    };
    if !finished {
        let _ = (client.set_zero_linger(), server.set_zero_linger());
    }
}

async fn pump_requests(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    mut orders: watch::Receiver<Orders>,
    shared: &Shared,
    deaf: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let size = from.read(&mut buffer).await?;
        hold_back(&mut orders, size).await?;
        let last = size == 0 || shared.takes_reply_wish(&buffer[..size]);
        if last && size > 0 {
            deaf.store(true, Ordering::Release);
        }
        to.write_all(&buffer[..size]).await?;
        shared.to_server.fetch_add(size as u64, Ordering::Relaxed);
        if last {
            // Whatever was sent before is acted upon; then the server sees the end and hangs up.
            return to.shutdown().await;
        }
    }
}

async fn pump_replies(
    mut from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    mut orders: watch::Receiver<Orders>,
    shared: &Shared,
    deaf: &AtomicBool,
) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    loop {
        let size = from.read(&mut buffer).await?;
        hold_back(&mut orders, size).await?;
        if deaf.load(Ordering::Acquire) {
            match size {
                0 => return Err(io::ErrorKind::ConnectionReset.into()),
                _ => continue,
            }
        }
        if size == 0 {
            return to.shutdown().await;
        }
        to.write_all(&buffer[..size]).await?;
        shared.to_client.fetch_add(size as u64, Ordering::Relaxed);
    }
}

/// Waits as long as the mode in force asks for before `size` bytes may go on. A change of mode ends the wait.
async fn hold_back(orders: &mut watch::Receiver<Orders>, size: usize) -> io::Result<()> {
    let mode = orders.borrow_and_update().mode;
    let time = match mode {
        Mode::Pass => return Ok(()),
        Mode::Delay(time) => time,
        Mode::Throttle(rate) => Duration::from_secs_f64(size as f64 / f64::from(rate)),
        Mode::Silent => Duration::MAX,
    };
    let changed = orders.wait_for(|o| o.mode != mode);
    match tokio::time::timeout(time, changed).await {
        Ok(Err(_)) => Err(io::ErrorKind::ConnectionReset.into()),
        Ok(Ok(_)) | Err(_) => Ok(()),
    }
}
