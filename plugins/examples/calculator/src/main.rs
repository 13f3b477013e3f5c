//! A tool for Parley boxes: it calculates exactly, with units.
mod expression;
mod parley;
mod units;

use expression::{Quantity, Reader};
use parley::Json;

fn main() {
    parley::serve(&[("calculate", calculate)]);
}

fn calculate(parameters: &Json) -> Result<String, String> {
    let text = match &parameters["expression"] {
        Json::Number(n) => n.to_string(),
        other => other.text().ok_or("expression is missing")?.to_string(),
    };
    if text.len() > 1000 {
        return Err("the expression is longer than 1000 characters".into());
    }
    let (text, to) = split(text.trim().trim_end_matches(['?', '=', '.', ' ']), parameters["to"].text().unwrap_or("").trim());
    if let Some(told) = temperature(text, to) {
        return told;
    }
    let mut reader = Reader::new(text);
    let result = reader.whole()?;
    let (value, spoken) = if to.is_empty() { in_own(result, &reader)? } else { in_asked(result, to)? };
    Ok(format!("{} is {}.", text, amount(value, spoken)))
}

/// Models may write the target unit after the expression, as in 3 ft in cm.
fn split<'a>(text: &'a str, to: &'a str) -> (&'a str, &'a str) {
    for word in [" in ", " to ", " into "] {
        if let (true, Some((left, right))) = (to.is_empty(), text.rsplit_once(word)) {
            if units::find(right.trim()).is_some() || units::scale(right).is_some() {
                return (left.trim(), right.trim());
            }
        }
    }
    (text, to)
}

/// Temperature scales have different zeros: they can only be converted.
fn temperature(text: &str, to: &str) -> Option<Result<String, String>> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || "+-−. ".contains(c)))?;
    let from = units::scale(&text[digits..])?;
    let value: f64 = match text[..digits].replace('−', "-").replace(' ', "").parse() {
        Ok(value) => value,
        Err(_) => return Some(Err(format!("{:?} is no temperature", text))),
    };
    let to = match units::scale(to) {
        Some(scale) => scale,
        None if to.is_empty() => return Some(Err("say into which scale: Celsius, Fahrenheit or kelvin".into())),
        None => return Some(Err(format!("{:?} is no scale of temperature: Celsius, Fahrenheit and kelvin are", to))),
    };
    let kelvin = value * from.step + from.zero;
    if kelvin < -1e-9 {
        return Some(Err("that is colder than anything can be".into()));
    }
    let (number, about) = rounded((kelvin - to.zero) / to.step);
    Some(Ok(format!("{} {} is {}{} {}.", rounded(value).0, from.spoken, about, number, to.spoken)))
}

/// The result in the requested unit.
fn in_asked(result: Quantity, to: &str) -> Result<(f64, (String, String)), String> {
    let mut reader = Reader::new(to);
    let unit = reader.whole().map_err(|_| format!("I do not know the unit {:?}", to))?;
    if unit.dimensions != result.dimensions {
        return Err(format!("the result cannot be converted to {}: it measures something else", to));
    }
    let spoken = match reader.units.as_slice() {
        [one] => (one.names[0].to_string(), one.names[1].to_string()),
        [over, under] if to.contains('/') || to.contains("per") => {
            (format!("{} per {}", over.names[0], under.names[0]), format!("{} per {}", over.names[1], under.names[0]))
        }
        _ => (to.to_string(), to.to_string()),
    };
    Ok((result.value / unit.value, spoken))
}

/// The result in the first fitting unit of the expression itself, or in one of
/// the table.
fn in_own(result: Quantity, reader: &Reader) -> Result<(f64, (String, String)), String> {
    if result.dimensions == units::NONE {
        return Ok((result.value, (String::new(), String::new())));
    }
    let fits = |u: &&units::Unit| u.dimensions == result.dimensions;
    let unit = reader.units.iter().copied().find(fits).or_else(|| units::UNITS.iter().find(fits));
    let unit = unit.ok_or("say in which unit the result is wanted")?;
    Ok((result.value / unit.factor, (unit.names[0].into(), unit.names[1].into())))
}

fn amount(value: f64, (one, many): (String, String)) -> String {
    let (number, about) = rounded(value);
    let unit = if number == "1" { one } else { many };
    format!("{}{} {}", about, number, unit).trim_end().to_string()
}

/// A number to be spoken, with six significant digits, and whether it is exact.
fn rounded(value: f64) -> (String, &'static str) {
    if value == 0.0 {
        return ("0".into(), "");
    }
    let before = value.abs().log10().floor() as i32 + 1;
    if before > 15 || before < -6 {
        return (format!("{:.3e}", value).replace('e', " times ten to the power of "), "about ");
    }
    let places = (6 - before).max(0) as usize;
    let text = format!("{:.*}", places, value);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let told: f64 = text.parse().unwrap_or(value);
    let exact = (told - value).abs() <= value.abs() * 1e-12;
    (text.to_string(), if exact { "" } else { "about " })
}
