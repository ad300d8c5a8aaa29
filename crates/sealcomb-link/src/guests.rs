//! Connections of those who ask for the status: few at a time, and none for long.

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

/// A socket that accepts a connection when there is a place for it.
pub(crate) struct Guests {
    listener: TcpListener,
    places: Arc<Semaphore>,
    time: Duration,
}

impl Guests {
    /// At most so many connections at a time, each for at most so long.
    pub(crate) fn new(listener: TcpListener, most: usize, time: Duration) -> Self {
        Self { listener, places: Arc::new(Semaphore::new(most)), time }
    }
}

impl Listener for Guests {
    type Io = Guest;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Guest, SocketAddr) {
        loop {
            let place = self.places.clone().acquire_owned().await.expect("nobody closes it");
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    return (Guest { stream, end: Box::pin(sleep(self.time)), _place: place }, address);
                }
                // Too many open files, and the like.
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that fails when its time is over.
pub(crate) struct Guest {
    stream: TcpStream,
    end: Pin<Box<Sleep>>,
    _place: OwnedSemaphorePermit,
}

impl Guest {
    /// The stream, while there is time. The task is woken when there is none.
    fn in_time(&mut self, cx: &mut Context<'_>) -> io::Result<Pin<&mut TcpStream>> {
        match self.end.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(Pin::new(&mut self.stream)),
        }
    }
}

impl AsyncRead for Guest {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.get_mut().in_time(cx)?.poll_read(cx, buf)
    }
}

impl AsyncWrite for Guest {
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
    async fn silent_connections_make_room_for_a_question() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let guests = Guests::new(listener, 2, Duration::from_millis(100));
        let router = Router::new().route("/", get(|| async { "here" }));
        tokio::spawn(async { axum::serve(guests, router).await });
        let mut silent = Vec::new();
        for _ in 0..4 {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        crate::keys::install_tls();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.get(format!("http://{address}/")).timeout(Duration::from_secs(60)).send().await;
        assert_eq!(answer.unwrap().text().await.unwrap(), "here");
        for stream in silent {
            stream.readable().await.unwrap();
            assert!(matches!(stream.try_read(&mut [0]), Ok(0) | Err(_)), "it was closed");
        }
    }
}
