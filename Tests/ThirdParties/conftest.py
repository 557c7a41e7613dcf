import pytest

from harness import Receiver, Relay


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def relay(tmp_path, receiver):
    """Makes relays whose receipts go to `receiver`."""
    made = []

    def make(app=None, **top):
        made.append(Relay(tmp_path, receiver, app, **top))
        return made[-1].start()

    yield make
    for relay in made:
        relay.stop()
