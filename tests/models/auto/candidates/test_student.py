"""The student that reads no edges."""

import torch

from gadc.models.auto._view import GraphView
from gadc.models.auto.candidates import Diffused, Student
from tests.helpers.auto_graphs import easy_graph, make_nodes, make_view

TEACHER = Diffused(variant="plain", lam=8.0, num_steps=4)


def test_student_reads_no_edges():
    data = easy_graph(40)
    view = make_view(data)
    reader = Student(teacher=TEACHER).fit(view, make_nodes(data, epochs=5))
    other = GraphView(data.x, torch.tensor([[0, 1], [2, 3]]), None, view.features)
    with torch.no_grad():
        assert torch.equal(reader(view), reader(other))


def test_student_imitates_its_teacher_beyond_the_labels():
    data = easy_graph(40, signal=1.5)
    view, nodes = make_view(data), make_nodes(data)
    teacher = TEACHER.fit(view, nodes)
    student = Student(teacher=TEACHER).fit(view, nodes)
    with torch.no_grad():
        same = teacher(view).argmax(1) == student(view).argmax(1)
    assert float(same.double().mean()) > 0.8
