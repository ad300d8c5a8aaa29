//! Draws all cells as an SVG: one rectangle per cell, green where sealcomb is faster and red where it is slower.

use std::fmt::Write;

use crate::buffers::Layout;
use crate::cell::{Case, Cell};
use crate::lengths::Lengths;

const SQUARE: usize = 34;
const HEIGHT: usize = 20;
const LEFT: usize = 130;
const TOP: usize = 56;
/// Height of a line of the list of libraries.
const LINE: usize = 13;

/// Returns an SVG of the cells, which must be in row order. `libraries` are those that were measured.
pub(crate) fn draw(cells: &[Cell], libraries: &str) -> String {
    let rows: Vec<&[Cell]> = cells.chunk_by(|a, b| a.case.same_table(&b.case)).collect();
    let count = rows.first().map_or(0, |row| row.len());
    let width = LEFT + count * SQUARE + 10;
    let lines = wrapped(libraries, width / 5);
    let top = TOP + lines.len() * LINE;
    let height = top + rows.len() * HEIGHT + 10;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"10\" y=\"18\" font-size=\"13\">Time of the fastest other library over sealcomb's</text>\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let y = 32 + number * LINE;
        let _ = writeln!(svg, "<text x=\"10\" y=\"{y}\" fill=\"#666\" font-size=\"9\">{line}</text>");
    }
    if let Some(row) = rows.first() {
        draw_header(&mut svg, row, top);
    }
    for (number, row) in rows.iter().enumerate() {
        draw_row(&mut svg, row, top + number * HEIGHT);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws the message lengths and batch sizes of a row's cells, above `top`.
fn draw_header(svg: &mut String, row: &[Cell], top: usize) {
    let mut x = LEFT;
    for column in row.chunk_by(|a, b| a.case.same_row(&b.case)) {
        let middle = x + column.len() * SQUARE / 2;
        let (y, title) = (top - 20, label(&column[0].case));
        let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\">{title}</text>");
        for cell in column {
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#666\" font-size=\"9\">×{}</text>",
                x + SQUARE / 2,
                top - 6,
                cell.case.batch
            );
            x += SQUARE;
        }
    }
}

/// Draws the cells of an algorithm and direction.
fn draw_row(svg: &mut String, row: &[Cell], y: usize) {
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}, {}</text>",
        LEFT - 6,
        y + 14,
        row[0].case.algorithm.name(),
        row[0].case.direction
    );
    for (place, cell) in row.iter().enumerate() {
        let Some(peer) = cell.fastest_peer() else { continue };
        let ratio = peer.ratio.median;
        let _ = writeln!(
            svg,
            "<g><title>{}, {}, {}, batch of {}: {} takes {ratio:.2} times as long</title>\
             <rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"10\">{ratio:.*}</text></g>",
            cell.case.algorithm.name(),
            cell.case.direction,
            label(&cell.case),
            cell.case.batch,
            peer.library,
            LEFT + place * SQUARE,
            SQUARE - 1,
            HEIGHT - 1,
            color(ratio),
            LEFT + place * SQUARE + SQUARE / 2,
            y + 14,
            usize::from(ratio < 9.95),
        );
    }
}

/// Splits text at spaces into lines of at most `width` characters, unless a word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let line = lines.last_mut().expect("the first line exists");
        if line.is_empty() || line.len() + word.len() <= width {
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Returns the label of a case's message lengths, with the layout unless it is packed.
fn label(case: &Case) -> String {
    let lengths = match case.lengths {
        Lengths::All(bytes) => format!("{bytes} bytes"),
        Lengths::Mix => "mix of packets".to_owned(),
    };
    match case.layout {
        Layout::Packed => lengths,
        layout => format!("{lengths}, {layout}"),
    }
}

/// Returns white for equal times, full red at half and full green at four times sealcomb's time.
fn color(ratio: f64) -> String {
    let strength = if ratio < 1.0 { ratio.log(0.5) } else { ratio.log(4.0) }.clamp(0.0, 1.0);
    let fade = |full: f64| 255.0 - (255.0 - full) * strength;
    let [red, green, blue] = if ratio < 1.0 { [230.0, 100.0, 90.0] } else { [90.0, 180.0, 110.0] };
    format!("rgb({:.0},{:.0},{:.0})", fade(red), fade(green), fade(blue))
}
