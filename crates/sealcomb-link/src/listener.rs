//! A TCP listener that limits the number and the duration of its connections, for the status server.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};

/// A listener that accepts a connection only while fewer than the maximum are open.
pub(crate) struct LimitedListener {
    listener: TcpListener,
    permits: Arc<Semaphore>,
    timeout: Duration,
}

impl LimitedListener {
    /// Limits `listener` to `max` connections at a time, each of which fails after `timeout`.
    pub(crate) fn new(listener: TcpListener, max: usize, timeout: Duration) -> Self {
        Self { listener, permits: Arc::new(Semaphore::new(max)), timeout }
    }
}

impl Listener for LimitedListener {
    type Io = LimitedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (LimitedStream, SocketAddr) {
        loop {
            let permit = self.permits.clone().acquire_owned().await.expect("the semaphore is never closed");
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    let end = Box::pin(sleep(self.timeout));
                    return (LimitedStream { stream, end, _permit: permit }, address);
                }
                // A resource shortage such as too many open files: retry later.
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection whose reads and writes fail after its timeout.
pub(crate) struct LimitedStream {
    stream: TcpStream,
    end: Pin<Box<Sleep>>,
    _permit: OwnedSemaphorePermit,
}

impl LimitedStream {
    /// Returns the stream, or an error after the timeout. Registers the task to be woken at the timeout.
    fn in_time(&mut self, cx: &mut Context<'_>) -> io::Result<Pin<&mut TcpStream>> {
        match self.end.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(Pin::new(&mut self.stream)),
        }
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.get_mut().in_time(cx)?.poll_read(cx, buf)
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().in_time(cx)?.poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().in_time(cx)?.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.get_mut().in_time(cx)?.poll_shutdown(cx))?;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;

    use super::*;

    #[tokio::test]
    async fn idle_connections_are_closed_to_admit_others() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limited = LimitedListener::new(listener, 2, Duration::from_millis(100));
        let router = Router::new().route("/", get(|| async { "here" }));
        tokio::spawn(async { axum::serve(limited, router).await });
        let mut idle = Vec::new();
        for _ in 0..4 {
            idle.push(TcpStream::connect(address).await.unwrap());
        }
        crate::keys::install_tls();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.get(format!("http://{address}/")).timeout(Duration::from_secs(60)).send().await;
        assert_eq!(answer.unwrap().text().await.unwrap(), "here");
        for stream in idle {
            stream.readable().await.unwrap();
            assert!(matches!(stream.try_read(&mut [0]), Ok(0) | Err(_)), "not closed");
        }
    }
}
