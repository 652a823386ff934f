"""The configuration of the members of a training."""

from testing.country import configuration


def test_members_whose_gates_see_all_are_started_first() -> None:
    config = configuration(members=7, seed=4, unseen=(("past_weather",), (), ("embedding",)))
    order = config.slowest_first()
    assert sorted(order) == list(range(7))
    assert order[:2] == [1, 4]
    assert {config.unseen_by(4 + member) for member in order[:2]} == {()}
    assert configuration(members=3).slowest_first() == [0, 1, 2]
