//! A tool for Parley boxes.
mod parley;
use parley::Json;

fn main() {
    parley::serve(&[("greet", greet)]);
}

/// What the assistant is told, or why there is nothing to tell.
fn greet(parameters: &Json) -> Result<String, String> {
    let who = parameters["who"].text().ok_or("who is missing")?;
    let greeting = parley::setting("greeting").unwrap_or_default();
    Ok(format!("{}, {}.", greeting, who))
}
