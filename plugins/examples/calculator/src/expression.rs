//! Reads and calculates an expression such as `3 * (4 ft + 2 in)`.

use crate::units::{self, Dimensions, Unit, NONE};

/// A value in metres, kilograms and seconds.
#[derive(Clone, Copy)]
pub struct Quantity {
    pub value: f64,
    pub dimensions: Dimensions,
}

pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// The units in the expression, in order.
    pub units: Vec<&'static Unit>,
}

/// The maximum nesting of brackets.
const MAX_DEPTH: usize = 50;

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Self {
        Reader { text, at: 0, depth: 0, units: Vec::new() }
    }

    /// The value of the whole text.
    pub fn whole(&mut self) -> Result<Quantity, String> {
        let value = self.sum()?;
        self.space();
        if self.at < self.text.len() {
            return Err(format!("I do not understand {:?}", &self.text[self.at..]));
        }
        if !value.value.is_finite() {
            return Err("that has no result: it divides by zero, or is too large".into());
        }
        Ok(value)
    }

    fn sum(&mut self) -> Result<Quantity, String> {
        let mut left = self.product()?;
        loop {
            let sign = match self.take(&["+", "-", "−", "plus", "minus"]) {
                Some("+") | Some("plus") => 1.0,
                Some(_) => -1.0,
                None => return Ok(left),
            };
            let right = self.product()?;
            if right.dimensions != left.dimensions {
                return Err("that adds what cannot be added, such as lengths and weights".into());
            }
            left.value += sign * right.value;
        }
    }

    fn product(&mut self) -> Result<Quantity, String> {
        let mut left = self.signed()?;
        loop {
            let (sign, right) = match self.take(&["*", "×", "·", "/", "÷", "times", "divided by", "per", "of"]) {
                Some("/") | Some("÷") | Some("divided by") | Some("per") => (-1, self.signed()?),
                Some(_) => (1, self.signed()?),
                None => return Ok(left),
            };
            left.value = if sign > 0 { left.value * right.value } else { left.value / right.value };
            for (l, r) in left.dimensions.iter_mut().zip(right.dimensions) {
                *l = l.checked_add(sign * r).ok_or("that has too many units")?;
            }
        }
    }

    fn signed(&mut self) -> Result<Quantity, String> {
        let mut sign = 1.0;
        while let Some(s) = self.take(&["-", "−", "+"]) {
            sign *= if s == "+" { 1.0 } else { -1.0 };
        }
        let mut q = self.power()?;
        q.value *= sign;
        Ok(q)
    }

    fn power(&mut self) -> Result<Quantity, String> {
        let mut base = self.atom()?;
        if self.take(&["^", "**", "to the power of"]).is_none() {
            return Ok(base);
        }
        self.deeper()?;
        let exponent = self.signed()?;
        self.depth -= 1;
        if exponent.dimensions != NONE {
            return Err("an exponent has no unit".into());
        }
        if base.dimensions != NONE {
            if exponent.value.fract() != 0.0 || exponent.value.abs() > 9.0 {
                return Err("a unit can only have a small whole exponent".into());
            }
            for d in &mut base.dimensions {
                *d = d.checked_mul(exponent.value as i8).ok_or("that has too many units")?;
            }
        }
        base.value = base.value.powf(exponent.value);
        Ok(base)
    }

    /// A number with or without a unit, a unit, brackets, or a root.
    fn atom(&mut self) -> Result<Quantity, String> {
        if self.take(&["square root of", "sqrt", "√"]).is_some() {
            self.deeper()?;
            let q = self.atom()?;
            self.depth -= 1;
            if q.dimensions != NONE || q.value < 0.0 {
                return Err("only a number that is not negative has a square root here".into());
            }
            return Ok(Quantity { value: q.value.sqrt(), dimensions: NONE });
        }
        let mut q = if self.take(&["("]).is_some() {
            self.deeper()?;
            let q = self.sum()?;
            self.depth -= 1;
            self.take(&[")"]).ok_or("a bracket is not closed")?;
            q
        } else if let Some(value) = self.number()? {
            Quantity { value, dimensions: NONE }
        } else {
            return self.unit()?.ok_or_else(|| match self.text[self.at..].trim() {
                "" => "the expression ends too early".to_string(),
                rest => format!("I do not understand {:?}", rest),
            });
        };
        if self.take(&["%", "percent"]).is_some() {
            q.value /= 100.0;
        } else if let Some(u) = self.unit()? {
            q.value *= u.value;
            for (l, r) in q.dimensions.iter_mut().zip(u.dimensions) {
                *l += r;
            }
        }
        Ok(q)
    }

    fn deeper(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("that has too many brackets".into());
        }
        Ok(())
    }

    /// Commas between groups of three digits separate thousands.
    fn number(&mut self) -> Result<Option<f64>, String> {
        self.space();
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(rest.len());
        let text = &rest[..length];
        if !text.contains(|c: char| c.is_ascii_digit()) {
            return Ok(None);
        }
        let mut groups = text.split('.').next().unwrap_or("").split(',');
        let first = groups.next().unwrap_or("");
        let fits = groups.all(|g| g.len() == 3 && !first.is_empty() && first.len() <= 3);
        self.at += length;
        match text.replace(',', "").parse() {
            Ok(value) if fits => Ok(Some(value)),
            _ => Err(format!("{:?} is no number: write 1234.5 or 1,234.5", text)),
        }
    }

    /// A unit of one or two words, such as fluid ounces.
    fn unit(&mut self) -> Result<Option<Quantity>, String> {
        self.space();
        let rest = &self.text[self.at..];
        let word = |from: usize| {
            let tail = &rest[from..];
            let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
            let digits = tail[letters..].chars().next().filter(|c| letters > 0 && "23²³".contains(*c));
            from + letters + digits.map_or(0, |c| c.len_utf8())
        };
        let one = word(0);
        let gap = rest[one..].len() - rest[one..].trim_start().len();
        let two = if gap > 0 { word(one + gap) } else { one };
        for end in [two, one] {
            if let Some(u) = units::find(rest[..end].trim()) {
                self.at += end;
                self.units.push(u);
                return Ok(Some(Quantity { value: u.factor, dimensions: u.dimensions }));
            }
        }
        Ok(None)
    }

    fn space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next word, if it is one of these.
    fn take<'w>(&mut self, words: &[&'w str]) -> Option<&'w str> {
        self.space();
        let rest = &self.text[self.at..];
        let found = words.iter().find(|w| {
            let letters = w.ends_with(char::is_alphabetic);
            rest.starts_with(**w) && !(letters && rest[w.len()..].starts_with(char::is_alphabetic))
        })?;
        self.at += found.len();
        Some(found)
    }
}
