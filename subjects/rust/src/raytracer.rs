//! Subject `raytracer`: a picture rendered by rows, after the Java Grande kernel of that name.
//!
//! | | paper (table 1) | here |
//! |---|---|---|
//! | threads | 11 | main and 10 workers |
//! | locks | not given | a tournament barrier; 1 monitor for the checksum; 1 of the list of balls, which only main uses |
//! | operations | 1859 lines, not given | main copies the scene ball by ball for each worker and starts it; a worker renders one row, adds its checksum and waits for all |
//!
//! In the original every thread adds its part while it holds the lock of its own copy of the scene, which protects
//! nothing; the race shows rarely. Here the sum has a lock that works, and a race that does no harm is kept: each
//! worker writes the same mark, "begun", into a plain field that main reads after joining.
//!
//! Shape chosen by us after measuring: a first version, in which main started all workers at once and the sums were
//! added after the barrier, gave a new partial order in nearly every run with `random` and `rapos` alike. Copying the
//! scene in main spreads the starts; the counts of this subject are no independent evidence for the paper's.

use crate::barrier::TournamentBarrier;
use crate::monitor::Monitor;
use crate::shim::Shared;
use crate::shim::sync::Arc;
use crate::shim::thread;
use crate::tasks::join_all;

const WORKERS: usize = 10;
const WIDTH: usize = 12;
const BALLS: usize = 6;

type Vector = [f64; 3];

#[derive(Debug, Clone, Copy)]
struct Ball {
    centre: Vector,
    radius: f64,
}

/// The list of balls, which locks itself for each access as Java's vectors do.
struct Scene {
    monitor: Monitor,
    balls: [Shared<Ball>; BALLS],
}

impl Scene {
    fn new() -> Self {
        let ball = |i: usize| {
            let place = i as f64 - BALLS as f64 / 2.0;
            Ball {
                centre: [place * 0.9, (place * 2.0).sin(), 4.0 + 0.3 * place],
                radius: 0.5 + 0.1 * i as f64,
            }
        };
        Scene { monitor: Monitor::new(), balls: std::array::from_fn(|i| Shared::new(ball(i))) }
    }

    fn ball(&self, index: usize) -> Ball {
        let _inside = self.monitor.enter();
        self.balls[index].get()
    }
}

struct Picture {
    barrier: TournamentBarrier,
    monitor: Monitor,
    checksum: Shared<u64>,
    begun: Shared<bool>,
}

/// The body of the subject: the checksum is the one that a single thread finds.
pub fn subject() {
    let scene = Scene::new();
    let picture = Arc::new(Picture {
        barrier: TournamentBarrier::new(WORKERS),
        monitor: Monitor::new(),
        checksum: Shared::new(0),
        begun: Shared::new(false),
    });
    let mut expected = 0;
    let mut tasks = Vec::new();
    for worker in 0..WORKERS {
        let copy: [Ball; BALLS] = std::array::from_fn(|i| scene.ball(i));
        expected += row_sum(&copy, worker);
        let picture = Arc::clone(&picture);
        tasks.push(thread::spawn(move || render(&picture, &copy, worker)));
    }
    join_all(tasks);
    assert!(picture.begun.get());
    assert_eq!(picture.checksum.get(), expected, "the sum of all rows");
}

fn render(picture: &Picture, balls: &[Ball], worker: usize) {
    picture.begun.set(true);
    let sum = row_sum(balls, worker);
    {
        let _inside = picture.monitor.enter();
        picture.checksum.update(|checksum| checksum + sum);
    }
    picture.barrier.wait(worker, 1);
}

/// The sum of the brightness of all pixels of a row.
fn row_sum(balls: &[Ball], row: usize) -> u64 {
    (0..WIDTH)
        .map(|column| {
            let x = column as f64 / WIDTH as f64 * 2.0 - 1.0;
            let y = row as f64 / WORKERS as f64 * 2.0 - 1.0;
            brightness(balls, [x, y, 1.0])
        })
        .sum()
}

/// How bright the first ball is that a ray from the eye hits, lit from behind the eye.
fn brightness(balls: &[Ball], towards: Vector) -> u64 {
    let dot = |a: Vector, b: Vector| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let length = dot(towards, towards).sqrt();
    let ray = towards.map(|part| part / length);
    let hit = |ball: &Ball| {
        let along = dot(ray, ball.centre);
        let inside = ball.radius * ball.radius - (dot(ball.centre, ball.centre) - along * along);
        (inside >= 0.0).then(|| (along - inside.sqrt(), inside.sqrt() / ball.radius))
    };
    let nearest = balls.iter().filter_map(hit).min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map_or(0, |(_, facing)| (facing * 255.0) as u64)
}
