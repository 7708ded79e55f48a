import signal

import pytest

from quercus.cli.signals import Stopper, undisturbed


def go(stopper, signals):
    """Take five steps, with signals at some of them; return the steps that were finished."""
    finished = []
    try:
        for step in stopper.steps(range(5)):
            for number in signals.get(step, []):
                signal.raise_signal(number)
            finished.append(step)
    except KeyboardInterrupt:
        return finished
    return "not stopped"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_patience_is_until_the_end_of_a_step(number, status):
    with Stopper() as stopper:
        stopper.patient = True
        assert go(stopper, {2: [number]}) == [0, 1, 2]
    assert stopper.status == status


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_without_patience_it_stops_at_once(number):
    with Stopper() as stopper:
        assert go(stopper, {2: [number]}) == [0, 1]


def test_asked_twice_it_stops_at_once():
    with Stopper() as stopper:
        stopper.patient = True
        assert go(stopper, {2: [signal.SIGINT, signal.SIGINT]}) == [0, 1]


def test_ignored_interrupts_stay_ignored_but_sigterm_stops():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Stopper() as stopper:
            assert go(stopper, {1: [signal.SIGINT], 3: [signal.SIGTERM]}) == [0, 1, 2]
        assert stopper.status == 143
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_are_as_before_afterwards():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Stopper():
        assert signal.getsignal(signal.SIGTERM) is not before[1]
    with undisturbed():
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
