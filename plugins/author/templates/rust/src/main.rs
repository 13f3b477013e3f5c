//! A tool for Parley boxes.
mod parley;
use parley::Json;

fn main() {
    parley::serve(&[("greet", greet)]);
}

/// Returns the answer for the assistant, or an error.
fn greet(parameters: &Json) -> Result<String, String> {
    let who = parameters["who"].text().ok_or("who is missing")?;
    let greeting = parley::setting("greeting").unwrap_or_default();
    Ok(format!("{}, {}.", greeting, who))
}
