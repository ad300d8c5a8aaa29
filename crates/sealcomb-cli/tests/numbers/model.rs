//! A random sequence of all situations, in which no number may repeat.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use fastrand::Rng;

use crate::world::{Owner, State, World, capture, feed, write};

const STEPS: usize = 60;

/// A random set of owners for one SA file.
fn owners(rng: &mut Rng) -> Vec<Owner> {
    let esp = [Owner::esp(1), Owner::esp(2), Owner::esp(3)];
    let macsec = [Owner::macsec(1, 1), Owner::macsec(1, 2), Owner::macsec(2, 1)];
    let mut owners = if rng.bool() { esp.to_vec() } else { macsec.to_vec() };
    rng.shuffle(&mut owners);
    owners.truncate(rng.usize(1..=3));
    owners
}

/// Creates an SA file for the owners: a new one, a copy, or a link.
fn sa(world: &World, rng: &mut Rng, owners: &[Owner], step: usize) -> PathBuf {
    let original = world.write_sa(&format!("{step}/sa.toml"), owners, rng.u8(0..4));
    let other = world.path(format!("{}.toml", rng.u8(..)));
    let _ = fs::remove_file(&other);
    match rng.u8(0..4) {
        0 => return original,
        1 => {
            fs::copy(&original, &other).unwrap();
        }
        2 => fs::hard_link(&original, &other).unwrap(),
        _ => {
            #[cfg(unix)]
            std::os::unix::fs::symlink(&original, &other).unwrap();
            #[cfg(not(unix))]
            return original;
        }
    }
    other
}

fn state(world: &World, rng: &mut Rng) -> State {
    match rng.u8(0..7) {
        0..=1 => State::Xdg,
        2..=3 => State::Home,
        4 => State::Named(world.path("a")),
        5 => State::OtherXdg(world.path("c")),
        _ => State::Named(world.path("b")),
    }
}

/// All state files, in all directories.
fn state_files(world: &World) -> Vec<PathBuf> {
    let folders = [world.state(), world.path("a"), world.path("b"), world.path("c/sealcomb")];
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

/// Breaks a random state file, calls `run`, and restores the file.
fn with_a_broken_state(world: &mut World, rng: &mut Rng, run: impl FnOnce(&mut World)) {
    let files = state_files(world);
    let Some(file) = rng.choice(files) else { return run(world) };
    let good = fs::read(&file).unwrap();
    fs::remove_file(&file).unwrap();
    match rng.u8(0..3) {
        0 => fs::create_dir(&file).unwrap(),
        #[cfg(unix)]
        1 => std::os::unix::fs::symlink(world.path("nowhere"), &file).unwrap(),
        _ => write(&file, &good[..rng.usize(..good.len() - 2)]),
    }
    run(world);
    let _ = fs::remove_dir(&file);
    let _ = fs::remove_file(&file);
    write(&file, good);
}

#[test]
fn no_number_ever_repeats() {
    let seed =
        std::env::var("SEALCOMB_SEED").map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
    eprintln!("SEALCOMB_SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    let mut world = World::new();
    for step in 0..STEPS {
        let owners = owners(&mut rng);
        let sa = sa(&world, &mut rng, &owners, step);
        let state = state(&world, &mut rng);
        let count = rng.usize(1..40);
        let protocol = owners[0].protocol;
        match rng.u8(0..8) {
            0..=3 => world.seal(&owners, &sa, &state, count).assert_well(),
            4 => with_a_broken_state(&mut world, &mut rng, |world| {
                let outcome = world.seal(&owners, &sa, &state, count);
                assert!(matches!(outcome.status, Some(0 | 1 | 3)), "{}", outcome.stderr);
            }),
            // Killed at a random moment.
            5 => {
                let (mut command, output) = world.command(protocol, &sa, &state, "/dev/stdin".as_ref());
                let mut child = command.args(["--burst", "1"]).spawn().unwrap();
                let bytes = capture(&owners, 400);
                let cut = rng.usize(..bytes.len());
                std::io::Write::write_all(child.stdin.as_mut().unwrap(), &bytes[..cut]).unwrap();
                std::thread::sleep(Duration::from_millis(rng.u64(..40)));
                child.kill().unwrap();
                world.finish(child, &output, &owners);
            }
            // Concurrent runs.
            6 => {
                let mut children = Vec::new();
                for _ in 0..3 {
                    let (mut command, output) = world.command(protocol, &sa, &state, "/dev/stdin".as_ref());
                    let mut child = command.spawn().unwrap();
                    feed(&mut child, &capture(&owners, count));
                    children.push((child, output));
                }
                for (child, output) in children {
                    assert_eq!(world.finish(child, &output, &owners).status, Some(0));
                }
            }
            // A full disk.
            _ => {
                #[cfg(unix)]
                {
                    let (command, output) = world.command(protocol, &sa, &state, "/dev/stdin".as_ref());
                    let command = crate::situations::on_a_full_disk(&command);
                    let outcome = world.run(command, &output, &owners, count);
                    assert_eq!((outcome.status, outcome.numbers.len()), (Some(3), 0), "{}", outcome.stderr);
                }
            }
        }
    }
    assert!(world.count() > STEPS, "{} numbers", world.count());
}
