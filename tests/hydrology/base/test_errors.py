from hydrology.base.errors import DataProblem, InvalidInput, NotFound, Problem


def test_every_kind_of_problem_has_its_own_name_and_an_exit_code_other_than_success() -> None:
    kinds = [Problem, NotFound, InvalidInput, DataProblem]
    assert len({kind.kind for kind in kinds}) == len(kinds)
    assert all(kind.exit_code not in (0, 1) for kind in kinds)
    assert all(issubclass(kind, Problem) for kind in kinds)
