//! Guest calls that may wait long, off the threads that drive tasks.

use tokio::task::JoinHandle;

/// Something that is worked on by one blocking job at a time. A caller that gives up waiting loses nothing: the job's
/// answer is there for the next one who asks.
pub(crate) struct Task<S, R> {
    state: State<S, R>,
}

enum State<S, R> {
    Idle(S),
    Running(JoinHandle<(S, R)>),
    /// A job panicked.
    Lost,
}

impl<S: Send + 'static, R: Send + 'static> Task<S, R> {
    pub(crate) fn new(state: S) -> Self {
        Self { state: State::Idle(state) }
    }

    /// What is worked on, if no job runs.
    pub(crate) fn idle(&mut self) -> Option<&mut S> {
        match &mut self.state {
            State::Idle(state) => Some(state),
            State::Running(_) | State::Lost => None,
        }
    }

    /// The answer of the job that runs already, or else of `job`. Cancel-safe.
    ///
    /// # Panics
    /// If the job panicked.
    pub(crate) async fn run(&mut self, job: impl FnOnce(&mut S) -> R + Send + 'static) -> R {
        if let State::Idle(_) = &self.state {
            let State::Idle(mut state) = std::mem::replace(&mut self.state, State::Lost) else {
                unreachable!("it was idle")
            };
            let work = move || {
                let answer = job(&mut state);
                (state, answer)
            };
            self.state = State::Running(tokio::task::spawn_blocking(work));
        }
        self.finished().await
    }

    /// Waits for the job that runs, if one does, and drops its answer. Cancel-safe.
    ///
    /// # Panics
    /// If the job panicked.
    pub(crate) async fn settle(&mut self) {
        if let State::Running(_) = &self.state {
            self.finished().await;
        }
    }

    /// The answer of the job that runs.
    async fn finished(&mut self) -> R {
        let State::Running(running) = &mut self.state else { unreachable!("a lost job panicked its caller") };
        match running.await {
            Ok((state, answer)) => {
                self.state = State::Idle(state);
                answer
            }
            Err(error) => {
                self.state = State::Lost;
                std::panic::resume_unwind(error.into_panic())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn an_answer_nobody_waited_for_is_there_for_the_next() {
        let (open, closed) = std::sync::mpsc::channel::<()>();
        let mut task = Task::new(1);
        let first = task.run(move |n| {
            closed.recv().ok();
            *n += 1;
            *n
        });
        assert!(tokio::time::timeout(Duration::from_millis(1), first).await.is_err());
        assert!(task.idle().is_none());
        open.send(()).ok();
        assert_eq!(task.run(|_| 100).await, 2, "the answer of the first job");
        assert_eq!(task.run(|n| *n).await, 2);
        assert!(task.idle().is_some());
    }

    #[tokio::test]
    async fn a_job_can_be_waited_for_without_its_answer() {
        let mut task = Task::new(1);
        task.settle().await;
        let slow = task.run(|n| {
            std::thread::sleep(Duration::from_millis(50));
            *n += 1;
        });
        assert!(tokio::time::timeout(Duration::from_millis(1), slow).await.is_err());
        task.settle().await;
        assert_eq!(task.idle(), Some(&mut 2));
    }
}
