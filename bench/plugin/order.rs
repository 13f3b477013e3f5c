// A tool that parses JSON, reckons with it, and writes JSON: what plugins do.
// One source makes both modules that parley bench plugin measures. How they are
// made stands in make.
use std::collections::BTreeMap;
use std::fmt::Write;

enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn space(&mut self) {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Option<u8> {
        self.space();
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, c: u8) -> Option<()> {
        if self.next()? != c {
            return None;
        }
        self.at += 1;
        Some(())
    }

    fn value(&mut self) -> Option<Json> {
        match self.next()? {
            b'{' => self.object(),
            b'[' => self.list(),
            b'"' => Some(Json::Text(self.string()?)),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Option<Json> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return None;
        }
        self.at += word.len();
        Some(value)
    }

    fn number(&mut self) -> Option<Json> {
        let begin = self.at;
        while self.at < self.text.len() && matches!(self.text[self.at], b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[begin..self.at]).ok()?.parse().ok().map(Json::Number)
    }

    fn string(&mut self) -> Option<String> {
        self.expect(b'"')?;
        let mut out = Vec::new();
        loop {
            let c = *self.text.get(self.at)?;
            self.at += 1;
            match c {
                b'"' => return String::from_utf8(out).ok(),
                b'\\' => {
                    let escaped = *self.text.get(self.at)?;
                    self.at += 1;
                    out.push(match escaped {
                        b'n' => b'\n',
                        b't' => b'\t',
                        b'u' => return None, // none is in what is measured
                        other => other,
                    });
                }
                other => out.push(other),
            }
        }
    }

    fn list(&mut self) -> Option<Json> {
        self.expect(b'[')?;
        let mut all = Vec::new();
        if self.next()? == b']' {
            self.at += 1;
            return Some(Json::List(all));
        }
        loop {
            all.push(self.value()?);
            if self.next()? == b']' {
                self.at += 1;
                return Some(Json::List(all));
            }
            self.expect(b',')?;
        }
    }

    fn object(&mut self) -> Option<Json> {
        self.expect(b'{')?;
        let mut all = BTreeMap::new();
        if self.next()? == b'}' {
            self.at += 1;
            return Some(Json::Object(all));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.expect(b':')?;
            all.insert(key, self.value()?);
            if self.next()? == b'}' {
                self.at += 1;
                return Some(Json::Object(all));
            }
            self.expect(b',')?;
        }
    }
}

fn write(out: &mut String, value: &Json) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Json::Number(n) => {
            let _ = write!(out, "{}", n);
        }
        Json::Text(text) => {
            out.push('"');
            for c in text.chars() {
                match c {
                    '"' | '\\' => {
                        out.push('\\');
                        out.push(c);
                    }
                    '\n' => out.push_str("\\n"),
                    c => out.push(c),
                }
            }
            out.push('"');
        }
        Json::List(all) => {
            out.push('[');
            for (i, v) in all.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(out, v);
            }
            out.push(']');
        }
        Json::Object(all) => {
            out.push('{');
            for (i, (k, v)) in all.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write(out, &Json::Text(k.clone()));
                out.push(':');
                write(out, v);
            }
            out.push('}');
        }
    }
}

/// Reckons up an order: what each item costs, and all of them.
fn order(parameters: &[u8]) -> Option<String> {
    let mut reader = Reader { text: parameters, at: 0 };
    let mut total = 0.0;
    let mut lines = Vec::new();
    if let Json::Object(o) = reader.value()? {
        if let Some(Json::List(items)) = o.get("items") {
            for item in items {
                if let Json::Object(i) = item {
                    if let (Some(Json::Number(price)), Some(Json::Number(count)), Some(Json::Text(name))) = (i.get("price"), i.get("count"), i.get("name")) {
                        total += price * count;
                        let mut line = BTreeMap::new();
                        line.insert("name".to_string(), Json::Text(name.clone()));
                        line.insert("costs".to_string(), Json::Number(price * count));
                        lines.push(Json::Object(line));
                    }
                }
            }
        }
    }
    let mut all = BTreeMap::new();
    all.insert("lines".to_string(), Json::List(lines));
    all.insert("total".to_string(), Json::Number(total));
    let mut out = String::new();
    write(&mut out, &Json::Object(all));
    Some(out)
}

#[cfg(not(command))]
mod reactor {
    #[link(wasm_import_module = "extism:host/env")]
    extern "C" {
        fn input_length() -> u64;
        fn input_load_u8(at: u64) -> u32;
        fn input_load_u64(at: u64) -> u64;
        fn alloc(n: u64) -> u64;
        fn store_u8(at: u64, b: u32);
        fn store_u64(at: u64, b: u64);
        fn output_set(at: u64, n: u64);
    }

    /// The tool in the Extism ABI.
    #[export_name = "order"]
    pub extern "C" fn tool() -> i32 {
        unsafe {
            let n = input_length();
            let mut text = Vec::with_capacity(n as usize);
            while (text.len() as u64) + 8 <= n {
                text.extend_from_slice(&input_load_u64(text.len() as u64).to_le_bytes());
            }
            while (text.len() as u64) < n {
                text.push(input_load_u8(text.len() as u64) as u8);
            }
            let out = match super::order(&text) {
                Some(out) => out.into_bytes(),
                None => return 1,
            };
            let at = alloc(out.len() as u64);
            let mut done = 0;
            for part in out.chunks_exact(8) {
                let mut word = [0; 8];
                word.copy_from_slice(part);
                store_u64(at + done, u64::from_le_bytes(word));
                done += 8;
            }
            for b in &out[done as usize..] {
                store_u8(at + done, *b as u32);
                done += 1;
            }
            output_set(at, done);
        }
        0
    }

    /// Memory of n bytes for who calls by hand.
    #[no_mangle]
    pub extern "C" fn room(n: usize) -> *mut u8 {
        let mut v = Vec::with_capacity(n);
        let p = v.as_mut_ptr();
        std::mem::forget(v);
        p
    }

    /// The same function by hand: takes the n bytes at p, which room gave, and
    /// returns where the answer is and its length, which done gives back.
    #[no_mangle]
    pub extern "C" fn by_hand(p: *mut u8, n: usize) -> u64 {
        let text = unsafe { Vec::from_raw_parts(p, n, n) };
        match super::order(&text) {
            Some(out) => {
                let out = out.into_bytes().into_boxed_slice();
                let n = out.len() as u64;
                (Box::into_raw(out) as *mut u8 as u64) << 32 | n
            }
            None => 0,
        }
    }

    #[no_mangle]
    pub extern "C" fn done(p: *mut u8, n: usize) {
        drop(unsafe { Vec::from_raw_parts(p, n, n) });
    }
}

#[cfg(command)]
fn main() {
    use std::io::{Read, Write};
    let mut text = Vec::new();
    std::io::stdin().read_to_end(&mut text).unwrap();
    match order(&text) {
        Some(out) => std::io::stdout().write_all(out.as_bytes()).unwrap(),
        None => {
            eprintln!("the parameters are not JSON");
            std::process::exit(1)
        }
    }
}
