//! Draws all cells as an SVG: one rectangle per cell, green where sealcomb is faster and red where it is slower.

use std::fmt::Write;

use crate::cell::Cell;
use crate::work::Lengths;

const SQUARE: usize = 34;
const HEIGHT: usize = 20;
const LEFT: usize = 130;
const TOP: usize = 56;

/// Returns an SVG of the cells, which must be in row order.
pub(crate) fn draw(cells: &[Cell]) -> String {
    let rows: Vec<&[Cell]> =
        cells.chunk_by(|a, b| a.algorithm.id == b.algorithm.id && a.direction == b.direction).collect();
    let columns: Vec<&[Cell]> =
        rows.first().map_or(Vec::new(), |row| row.chunk_by(|a, b| a.lengths == b.lengths).collect());
    let count = rows.first().map_or(0, |row| row.len());
    let (width, height) = (LEFT + count * SQUARE + 10, TOP + rows.len() * HEIGHT + 10);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"10\" y=\"18\" font-size=\"13\">Time of the fastest other library over sealcomb's</text>\n"
    );
    let mut x = LEFT;
    for column in columns {
        let middle = x + column.len() * SQUARE / 2;
        let title = label(column[0].lengths);
        let _ = writeln!(svg, "<text x=\"{middle}\" y=\"36\" text-anchor=\"middle\">{title}</text>");
        for cell in column {
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"50\" text-anchor=\"middle\" fill=\"#666\" font-size=\"9\">×{}</text>",
                x + SQUARE / 2,
                cell.batch
            );
            x += SQUARE;
        }
    }
    for (number, row) in rows.iter().enumerate() {
        let y = TOP + number * HEIGHT;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}, {}</text>",
            LEFT - 6,
            y + 14,
            row[0].algorithm.name,
            row[0].direction
        );
        for (place, cell) in row.iter().enumerate() {
            let Some(peer) = cell.fastest_peer() else { continue };
            let ratio = peer.ratio.median;
            let _ = writeln!(
                svg,
                "<g><title>{}, {}, {}, batch of {}: {} takes {ratio:.2} times as long</title>\
                 <rect x=\"{}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"10\">{ratio:.*}</text></g>",
                cell.algorithm.name,
                cell.direction,
                label(cell.lengths),
                cell.batch,
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
    svg.push_str("</svg>\n");
    svg
}

/// Returns the label of a cell's message lengths.
fn label(lengths: Lengths) -> String {
    match lengths {
        Lengths::All(bytes) => format!("{bytes} bytes"),
        Lengths::Mix => "mix of packets".to_owned(),
    }
}

/// Returns white for equal times, full red at half and full green at four times sealcomb's time.
fn color(ratio: f64) -> String {
    let strength = if ratio < 1.0 { ratio.log(0.5) } else { ratio.log(4.0) }.clamp(0.0, 1.0);
    let fade = |full: f64| 255.0 - (255.0 - full) * strength;
    let [red, green, blue] = if ratio < 1.0 { [230.0, 100.0, 90.0] } else { [90.0, 180.0, 110.0] };
    format!("rgb({:.0},{:.0},{:.0})", fade(red), fade(green), fade(blue))
}
