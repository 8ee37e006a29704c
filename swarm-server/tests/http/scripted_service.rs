//! A service that answers every request with one text, and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

pub struct ScriptedService {
    pub url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl ScriptedService {
    /// Answers with this JSON, 200.
    pub fn answering(body: &str) -> Self {
        Self::responding(&format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// Answers with these bytes.
    pub fn responding(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (seen, answer) = (Arc::clone(&requests), answer.to_owned());
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let mut reader = BufReader::new(socket.unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n")
                    && reader.read_line(&mut head).is_ok_and(|n| n > 0)
                {}
                let length = head.lines().find_map(|line| {
                    line.to_lowercase().strip_prefix("content-length: ")?.parse().ok()
                });
                let mut body = vec![0; length.unwrap_or_default()];
                let _ = reader.read_exact(&mut body);
                seen.lock().unwrap().push(head);
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        Self { url, requests }
    }

    /// The heads of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}
