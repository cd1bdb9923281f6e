//! How a run ends: by the end of the process, by a failure, or because the plan has had enough. In every case
//! what came of it is handed to the server, and the process is over.

use crate::calls;
use crate::checkpoint;
use crate::mappings::Mappings;
use crate::reset;
use crate::run::{self, Run, with};
use crate::server;
use crate::streams;
use crate::sys;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};
use raddle_model::{Kind, ObjectId, ObjectInfo, Op, SiteId, TaskId, Verdict};
use raddle_wire::report::{self, Edge, Race, Recorded, RunReport};

/// Exit code of a process that could not say what came of its run.
const SPEECHLESS: i32 = 99;

// See `run::ACTIVE`.
#[cfg_attr(target_os = "linux", unsafe(link_section = ".data"))]
static REPORTING: AtomicBool = AtomicBool::new(false);

/// The process ends with this code, of which others see the lowest byte: the last thing that the program does.
pub fn process_ends(code: i32, site: SiteId) -> ! {
    with(|run| run.exit_code = Some(code & 0xff));
    run::arrive(Op::new(Kind::End, ObjectId::NONE, site));
    over()
}

/// Main has returned, and the process would end: what is buffered is written.
///
/// # Safety
/// On a task's stack.
pub unsafe fn returned(code: i32) -> ! {
    // SAFETY: tasks run one at a time.
    unsafe { streams::flush() };
    process_ends(code, SiteId::UNKNOWN)
}

/// The run is over: hands over what came of it.
pub fn over() -> ! {
    run::deactivate();
    if with(|run| run.engine.verdict() == Some(&Verdict::Finished)) {
        server::next_repeat();
    }
    if REPORTING.swap(true, Ordering::Relaxed) {
        // Something went wrong while the report was made.
        reset::refuse(reset::SPEECHLESS);
        sys::exit(SPEECHLESS);
    }
    let report = with(make_report);
    let way = match &report.verdict {
        Verdict::Finished => 0,
        Verdict::Cut => 1,
        Verdict::Diverged(_) => 2,
        Verdict::Failed(failure) => 3 + failure.kind as u32,
    };
    // What somebody may want to act upon.
    let urgent = way != 0 || !report.races.is_empty();
    server::publish(&report::encode(&report), server::Gist { urgent, way, steps: report.steps });
    reset::over();
    sys::exit(report.exit_code.unwrap_or(0))
}

/// What came of a run that has ended, as it is sent.
pub(crate) fn report() -> Vec<u8> {
    report::encode(&with(make_report))
}

fn told(call: calls::Call) -> report::Call {
    report::Call { task: call.task, site: call.site, callers: call.callers }
}

fn make_report(run: &mut Run) -> RunReport {
    let fingerprint = run.engine.analysis().fingerprint.value();
    let verdict = run.engine.close(fingerprint);
    let recorder = run.engine.analysis_mut().take_recorder();
    let searched = run.searched.then(|| checkpoint::report(run));
    let mut calls = core::mem::take(&mut run.calls);
    let world = run.engine.world();
    let watch = run.engine.analysis();
    let cycles = watch.lock_order().map(|order| order.findings()).unwrap_or_default();
    let edges = |edge: &raddle_analysis::lock_order::Edge| Edge {
        task: world.path(edge.task),
        held: world.object(edge.held).state.noun().to_owned(),
        sites: edge.sites,
    };
    let recorded = recorder.map(|recorder| {
        let mut trace = run.engine.trace(recorder.events);
        trace.schedule.fingerprint = fingerprint;
        // A run of many tells what happened, and nothing for people.
        let objects = world.objects().iter().enumerate().filter(|_| !calls.told);
        Recorded {
            trace,
            objects: objects
                .map(|(id, object)| ObjectInfo {
                    id: ObjectId(id as u32),
                    noun: object.state.noun().to_owned(),
                    name: None,
                    site: object.site,
                })
                .collect(),
            tasks: (0..world.tasks().len() as u32)
                .filter(|_| !calls.told)
                .map(|task| world.path(TaskId(task)))
                .collect(),
            places: run
                .objects
                .places()
                .into_iter()
                .filter(|_| !calls.told)
                .filter_map(|(object, address)| {
                    let (module, offset) = run.modules.locate(address)?;
                    Some((object, module as u32, offset as u64))
                })
                .collect(),
            modules: run.modules.all().iter().map(|module| module.path.clone()).collect(),
            arrivals: core::mem::take(&mut calls.arrivals).into_iter().map(told).collect(),
            accesses: core::mem::take(&mut calls.accesses).into_iter().map(told).collect(),
        }
    });
    let recorded = recorded.or(searched);
    RunReport {
        verdict,
        exit_code: run.exit_code,
        fingerprint,
        steps: run.engine.steps(),
        accesses: crate::run::GLANCE.accesses(),
        decisions: run.engine.decisions() as u64,
        tasks: world.tasks().len() as u32,
        releases: run.engine.saw_try(),
        weak_orders: watch.weak_orders,
        races: watch
            .races
            .iter()
            .map(|race| {
                let on_stack = |task| format!("a variable on the stack of {}", world.path(task));
                let what = run.blocks.describe(race.address, world);
                let what = what.or_else(|| Mappings::describe(race.address));
                let what = what.or_else(|| run.stack_of(race.address).map(on_stack));
                let what = what.as_deref().unwrap_or(report::NAMELESS);
                Race {
                    sites: [race.earlier.site, race.site],
                    message: race.message(what, world),
                    place: run
                        .modules
                        .locate(race.address)
                        .map(|(module, offset)| (module as u32, offset as u64)),
                }
            })
            .collect(),
        shared: watch.shared(),
        cycles: cycles.iter().map(|cycle| cycle.edges.iter().map(edges).collect::<Vec<_>>()).collect(),
        recorded,
        called: calls.take_called(run.since.as_ref()),
        since: run.since.take(),
    }
}
