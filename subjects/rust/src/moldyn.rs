//! Subject `moldyn`: molecular dynamics, after the Java Grande kernel of that name.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | threads | 11 | main and 10 workers |
//! | locks | not given | the monitors of a tournament barrier (the original spins on flags) |
//! | operations | 1291 lines, not given | one time step: forces, barrier, move |
//!
//! Each worker owns one particle, computes the Lennard-Jones force on it from the positions of all others, waits for
//! all, and moves it. Every position is written by its owner only, after everybody has read it: no race.

use crate::barrier::TournamentBarrier;
use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

const WORKERS: usize = 10;
const STEPS: usize = 1;
const TIME_STEP: f64 = 0.002;

type Point = [f64; 3];

struct Model {
    positions: Vec<Shared<Point>>,
    velocities: Vec<Shared<Point>>,
    barrier: TournamentBarrier,
}

/// The body of the subject: the particles end where a single thread brings them.
pub fn subject() {
    let model = Arc::new(Model {
        positions: (0..WORKERS).map(|p| Shared::new(start(p))).collect(),
        velocities: (0..WORKERS).map(|_| Shared::new([0.0; 3])).collect(),
        barrier: TournamentBarrier::new(WORKERS),
    });
    let tasks = (0..WORKERS)
        .map(|worker| {
            let model = Arc::clone(&model);
            thread::spawn(move || run(&model, worker))
        })
        .collect();
    join_all(tasks);
    let moved: Vec<Point> = model.positions.iter().map(Shared::get).collect();
    assert_eq!(moved, sequentially(), "the same arithmetic in another order of threads");
}

fn run(model: &Model, worker: usize) {
    let position = &model.positions[worker];
    let velocity = &model.velocities[worker];
    for step in 0..STEPS {
        let positions: Vec<Point> = model.positions.iter().map(Shared::get).collect();
        let force = force_on(&positions, worker);
        model.barrier.wait(worker, 2 * step + 1);
        let (p, v) = moved(position.get(), velocity.get(), force);
        position.set(p);
        velocity.set(v);
        if step + 1 < STEPS {
            model.barrier.wait(worker, 2 * step + 2);
        }
    }
}

/// Particles on a lattice, slightly out of place so that forces differ.
fn start(particle: usize) -> Point {
    let place = |axis: usize| {
        let cell = particle / 3_usize.pow(axis as u32) % 3;
        cell as f64 * 1.1 + (particle * (axis + 1)) as f64 * 0.003
    };
    [place(0), place(1), place(2)]
}

fn force_on(positions: &[Point], particle: usize) -> Point {
    let mut force = [0.0; 3];
    for (other, position) in positions.iter().enumerate() {
        if other == particle {
            continue;
        }
        let apart: Vec<f64> = (0..3).map(|axis| positions[particle][axis] - position[axis]).collect();
        let square: f64 = apart.iter().map(|d| d * d).sum();
        let sixth = square.powi(-3);
        let strength = 48.0 * sixth * (sixth - 0.5) / square;
        for axis in 0..3 {
            force[axis] += strength * apart[axis];
        }
    }
    force
}

fn moved(mut position: Point, mut velocity: Point, force: Point) -> (Point, Point) {
    for axis in 0..3 {
        velocity[axis] += force[axis] * TIME_STEP;
        position[axis] += velocity[axis] * TIME_STEP;
    }
    (position, velocity)
}

fn sequentially() -> Vec<Point> {
    let mut positions: Vec<Point> = (0..WORKERS).map(start).collect();
    let mut velocities = [[0.0; 3]; WORKERS];
    for _ in 0..STEPS {
        let forces: Vec<Point> = (0..WORKERS).map(|p| force_on(&positions, p)).collect();
        for p in 0..WORKERS {
            (positions[p], velocities[p]) = moved(positions[p], velocities[p], forces[p]);
        }
    }
    positions
}
