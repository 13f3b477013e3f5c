//! For tools in Rust that a Parley box runs. All of it is in this file, and it
//! needs no crate. A tool is a function that gets the parameters of a call and
//! returns the answer for the assistant:
//!
//! ```
//! fn main() {
//!     parley::serve(&[("opening_hours", opening_hours)]);
//! }
//!
//! fn opening_hours(parameters: &Json) -> Result<String, String> {
//!     let place = parameters["place"].text().ok_or("place is missing")?;
//!     Ok(format!("{} is open from ten to six.", place))
//! }
//! ```
//!
//! Standard error is the plugin's log; `eprintln!` writes there.
#![allow(dead_code)]

use std::fmt::{self, Write as _};
use std::io::{Read, Write as _};
use std::ops::Index;

/// Answers one call. The content is a text or JSON for the assistant; an error
/// is reported to the assistant.
pub type Tool = fn(&Json) -> Result<String, String>;

/// Answers the call that the program was started for, and exits on an error.
pub fn serve(tools: &[(&str, Tool)]) {
    let done = answer(tools).and_then(|content| {
        let mut out = std::io::stdout();
        out.write_all(content.as_bytes()).and_then(|_| out.flush()).map_err(|e| e.to_string())
    });
    if let Err(why) = done {
        // The last line of standard error is the message: it has to be one line.
        eprintln!("{}", why.split_whitespace().collect::<Vec<_>>().join(" "));
        std::process::exit(1);
    }
}

fn answer(tools: &[(&str, Tool)]) -> Result<String, String> {
    let name = std::env::args().nth(1).ok_or("no tool was named as the first argument")?;
    let (_, tool) = tools.iter().find(|(n, _)| *n == name).ok_or(format!("there is no tool {:?}", name))?;
    let mut parameters = String::new();
    std::io::stdin().read_to_string(&mut parameters).map_err(|e| e.to_string())?;
    tool(&Json::parse(&parameters)?)
}

/// Returns a setting of the plugin, by its name in the manifest; None if it has
/// neither a value nor a default.
pub fn setting(name: &str) -> Option<String> {
    environment(&format!("SETTING_{}", name.to_uppercase()))
}

/// Returns the time of the call in the time zone of the box, such as
/// 2026-03-02T10:00:00+01:00.
pub fn time() -> String {
    environment("PARLEY_TIME").unwrap_or_default()
}

/// Returns an opaque id of the caller, which is the same in the caller's next
/// chat; None if the caller is unknown.
pub fn caller() -> Option<String> {
    environment("PARLEY_CALLER")
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The functions of the box, as docs/plugins/abi.md describes them.
mod host {
    #[link(wasm_import_module = "parley")]
    extern "C" {
        pub fn answer(to: *mut u8, length: usize) -> usize;
        pub fn http(request: *const u8, request_length: usize, body: *const u8, body_length: usize) -> i32;
        pub fn kv_get(key: *const u8, length: usize) -> i32;
        pub fn kv_set(key: *const u8, key_length: usize, value: *const u8, value_length: usize) -> i32;
        pub fn kv_delete(key: *const u8, length: usize) -> i32;
        pub fn kv_keys(prefix: *const u8, length: usize) -> i32;
        pub fn conversation() -> i32;
    }
}

/// The answer that the last host function left besides its number.
fn last_answer() -> Vec<u8> {
    unsafe {
        let mut bytes = vec![0; host::answer(std::ptr::null_mut(), 0)];
        host::answer(bytes.as_mut_ptr(), bytes.len());
        bytes
    }
}

/// The number, or the reason if it is negative.
fn accepted(number: i32) -> Result<i32, String> {
    if number < 0 {
        return Err(String::from_utf8_lossy(&last_answer()).into_owned());
    }
    Ok(number)
}

/// Makes an HTTP request to a granted host. Returns the status and the body of
/// the response. The error says why there is none.
pub fn fetch(method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<(u16, Vec<u8>), String> {
    let headers = headers.iter().map(|(n, v)| (n.to_string(), Json::Text(v.to_string()))).collect();
    let request = Json::Object(vec![
        ("method".into(), Json::Text(method.into())),
        ("url".into(), Json::Text(url.into())),
        ("headers".into(), Json::Object(headers)),
    ])
    .to_string();
    let status = accepted(unsafe { host::http(request.as_ptr(), request.len(), body.as_ptr(), body.len()) })?;
    Ok((status as u16, last_answer()))
}

/// Returns the value of a key; None if there is none. load, store and delete need
/// the permission storage.
pub fn load(key: &str) -> Result<Option<Vec<u8>>, String> {
    let found = accepted(unsafe { host::kv_get(key.as_ptr(), key.len()) })?;
    Ok(if found > 0 { Some(last_answer()) } else { None })
}

/// Stores a value under a key. Only this plugin can read it.
pub fn store(key: &str, value: &[u8]) -> Result<(), String> {
    accepted(unsafe { host::kv_set(key.as_ptr(), key.len(), value.as_ptr(), value.len()) }).map(|_| ())
}

/// Deletes a key.
pub fn delete(key: &str) -> Result<(), String> {
    accepted(unsafe { host::kv_delete(key.as_ptr(), key.len()) }).map(|_| ())
}

/// Returns the keys that begin with a prefix, in order, at most a thousand.
pub fn keys(prefix: &str) -> Result<Vec<String>, String> {
    accepted(unsafe { host::kv_keys(prefix.as_ptr(), prefix.len()) })?;
    match Json::parse(&String::from_utf8_lossy(&last_answer()))? {
        Json::Array(keys) => Ok(keys.iter().filter_map(|k| k.text().map(String::from)).collect()),
        _ => Err("the keys are no list".into()),
    }
}

/// Returns the messages so far, oldest first: JSON objects with role (user,
/// assistant or tool) and content. It needs the permission conversation.
pub fn conversation() -> Result<Vec<Json>, String> {
    accepted(unsafe { host::conversation() })?;
    match Json::parse(&String::from_utf8_lossy(&last_answer()))?["messages"] {
        Json::Array(ref messages) => Ok(messages.clone()),
        _ => Err("the conversation has no messages".into()),
    }
}

/// A JSON value. Its Display writes JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses JSON with up to 64 levels of nesting.
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0).and_then(|value| {
            reader.space();
            (reader.at == text.len()).then(|| value)
        });
        value.ok_or_else(|| format!("not JSON from byte {} on", reader.at))
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// A member of an object; Null if there is none.
impl Index<&str> for Json {
    type Output = Json;
    fn index(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => members.iter().find(|(n, _)| n == name).map_or(&Json::Null, |(_, value)| value),
            _ => &Json::Null,
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let list = |f: &mut fmt::Formatter, all: &mut dyn Iterator<Item = String>| f.write_str(&all.collect::<Vec<_>>().join(","));
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(b) => write!(f, "{}", b),
            Json::Number(n) if n.is_finite() => write!(f, "{}", n),
            Json::Number(_) => f.write_str("null"),
            Json::Text(text) => quote(f, text),
            Json::Array(values) => {
                f.write_char('[')?;
                list(f, &mut values.iter().map(|v| v.to_string()))?;
                f.write_char(']')
            }
            Json::Object(members) => {
                f.write_char('{')?;
                list(f, &mut members.iter().map(|(n, v)| format!("{}:{}", Json::Text(n.clone()), v)))?;
                f.write_char('}')
            }
        }
    }
}

fn quote(f: &mut fmt::Formatter, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{}", c)?,
            c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> u8 {
        *self.text.as_bytes().get(self.at).unwrap_or(&0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.text[self.at..].starts_with(word);
        self.at += if there { word.len() } else { 0 };
        there
    }

    fn value(&mut self, depth: usize) -> Option<Json> {
        self.space();
        match self.peek() {
            _ if depth > 64 => None,
            b'{' => self.list(b'}', |r| r.member(depth)).map(Json::Object),
            b'[' => self.list(b']', |r| r.value(depth + 1)).map(Json::Array),
            b'"' => self.string().map(Json::Text),
            b't' => self.take("true").then(|| Json::Bool(true)),
            b'f' => self.take("false").then(|| Json::Bool(false)),
            b'n' => self.take("null").then(|| Json::Null),
            _ => self.number(),
        }
    }

    /// Parses the items between an opening bracket, the current character, and close.
    fn list<T>(&mut self, close: u8, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        self.at += 1;
        self.space();
        if self.peek() == close {
            self.at += 1;
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            self.space();
            self.at += 1;
            match self.text.as_bytes().get(self.at - 1)? {
                b',' => {}
                c if *c == close => return Some(items),
                _ => return None,
            }
        }
    }

    fn member(&mut self, depth: usize) -> Option<(String, Json)> {
        self.space();
        let name = self.string()?;
        self.space();
        self.take(":").then(|| ())?;
        Some((name, self.value(depth + 1)?))
    }

    fn number(&mut self) -> Option<Json> {
        let begin = self.at;
        while matches!(self.peek(), b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') {
            self.at += 1;
        }
        let number = self.text[begin..self.at].parse().ok().filter(|n: &f64| n.is_finite());
        number.map(Json::Number)
    }

    fn string(&mut self) -> Option<String> {
        self.take("\"").then(|| ())?;
        let mut text = String::new();
        loop {
            let c = self.text[self.at..].chars().next()?;
            self.at += c.len_utf8();
            match c {
                '"' => return Some(text),
                '\\' => text.push(self.escape()?),
                c if c < ' ' => return None,
                c => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += 1;
        Some(match c {
            b'"' | b'\\' | b'/' => c as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let high = self.hex()?;
                if (0xd800..0xdc00).contains(&high) && self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    let low = self.hex()?;
                    let both = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
                    return Some(char::from_u32(both).filter(|_| (0xdc00..0xe000).contains(&low)).unwrap_or('\u{fffd}'));
                }
                char::from_u32(high).unwrap_or('\u{fffd}')
            }
            _ => return None,
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
