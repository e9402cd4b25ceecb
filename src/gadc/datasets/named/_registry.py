"""All named data sets: sizes, files, splits, attacked versions, citations and known defects."""

from gadc._base.plugins import Registry
from gadc.datasets.named._published_attacks import PublishedAttack
from gadc.datasets.named._readers import facebook, geom_gcn, npz, ogb, planetoid
from gadc.datasets.named._records import DatasetRecord, Maker, as_record

_PLANETOID = (
    "Yang, Cohen, Salakhutdinov: Revisiting Semi-Supervised Learning with Graph Embeddings. ICML 2016"
)
_SEN = "Sen et al.: Collective Classification in Network Data. AI Magazine 2008"
_NAMATA = "Namata et al.: Query-driven Active Surveying for Collective Classification. MLG 2012"
_GEOM = "Pei et al.: Geom-GCN: Geometric Graph Convolutional Networks. ICLR 2020"
_WEBKB = "Craven et al.: Learning to Extract Symbolic Knowledge from the World Wide Web. AAAI 1998"
_TANG = "Tang et al.: Social Influence Analysis in Large-scale Networks. KDD 2009"
_PROGNN = "Jin et al.: Graph Structure Learning for Robust Graph Neural Networks. KDD 2020"
_ROZEMBERCZKI = "Rozemberczki et al.: Multi-scale Attributed Node Embedding. J. Complex Networks 2021"
_PLATONOV = "Platonov et al.: A Critical Look at the Evaluation of GNNs under Heterophily. ICLR 2023"
_SHCHUR = "Shchur et al.: Pitfalls of Graph Neural Network Evaluation. 2018"
_MCAULEY = "McAuley et al.: Image-based Recommendations on Styles and Substitutes. SIGIR 2015"
_MAG = "Sinha et al.: An Overview of Microsoft Academic Service (MAS) and Applications. WWW 2015"
_OGB = "Hu et al.: Open Graph Benchmark: Datasets for Machine Learning on Graphs. NeurIPS 2020"

_NOT_48 = "The published splits are called 0.6/0.2 but hold about 48/32/20 % of the nodes."
_OWN_SPLIT = (
    "Table 1 of the GADC paper uses these fixed Pro-GNN lists, not the public split of the full graph; "
    "figures on the two splits cannot be compared."
)


def _ten(pattern: str) -> tuple[str, ...]:
    return tuple(f"{pattern}_split_0.6_0.2_{i}.npz" for i in range(10))


def _planetoid(
    name: str, nodes: int, features: int, classes: int, edges: int, *defects: str
) -> DatasetRecord:
    return DatasetRecord(
        nodes=nodes,
        features=features,
        classes=classes,
        edges=edges,
        files=_planetoid_files(name),
        read=planetoid.read,
        splits={"public": (), "geom-gcn": _ten(f"splits/geom_gcn/{name}"), "random": ()},
        citations=(_PLANETOID, _NAMATA if name == "pubmed" else _SEN, _GEOM),
        defects=(*defects, "geom-gcn: " + _NOT_48),
    )


def _planetoid_files(name: str) -> tuple[str, ...]:
    return tuple(f"planetoid/{name}/raw/ind.{name}.{part}" for part in planetoid.PARTS)


def _prognn(
    name: str, nodes: int, features: int, classes: int, edges: int, source: str, *defects: str
) -> DatasetRecord:
    in_paper, from_planetoid = name in ("cora", "citeseer", "pubmed"), name == "pubmed"
    splits: dict[str, tuple[str, ...]] = {"prognn": (f"splits/{name}_prognn_splits.json",)}
    if name in ("cora", "citeseer"):
        splits["adaptive"] = ()
    if from_planetoid:
        splits["nettack"] = ("nettack_prognn/pubmed_nettacked_nodes.json",)
    return DatasetRecord(
        nodes=nodes,
        features=features,
        classes=classes,
        edges=edges,
        files=_planetoid_files(name) if from_planetoid else (f"deeprobust/{name}.npz",),
        read=planetoid.read if from_planetoid else npz.read_largest_component,
        splits={**splits, "random": ()},
        attacks=_attacks(name),
        citations=(source, _PROGNN),
        defects=(*defects, *([_OWN_SPLIT] if in_paper else [])),
    )


def _attacks(name: str) -> dict[str, PublishedAttack]:
    """List the attacked versions; the Metattack graphs of the paper and of Pro-GNN differ, also at 25 %."""

    def files(folder: str, kind: str, rates: tuple[float, ...]) -> dict[float, str]:
        return {rate: f"{folder}/{name}_{kind}_adj_{rate}.npz" for rate in rates}

    attacks = {
        "metattack-prognn": PublishedAttack(
            files=files("metattack_prognn", "meta", (0.05, 0.1, 0.15, 0.2, 0.25))
        )
    }
    if name in ("cora", "citeseer", "pubmed"):
        attacks["metattack"] = PublishedAttack(files=files("metattack", "meta", (0.25, 0.5, 0.75)))
    if name != "cora_ml":
        attacks["nettack"] = PublishedAttack(
            files=files("nettack_prognn", "nettack", (1.0, 2.0, 3.0, 4.0, 5.0)),
            targets=f"nettack_prognn/{name}_nettacked_nodes.json",
        )
    return attacks


def _geom_gcn(folder: str, stem: str, nodes: int, features: int, edges: int, *defects: str) -> DatasetRecord:
    actor = stem == "film"
    return DatasetRecord(
        nodes=nodes,
        features=features,
        classes=5,
        edges=edges,
        files=(f"{folder}/raw/out1_graph_edges.txt", f"{folder}/raw/out1_node_feature_label.txt"),
        read=geom_gcn.read_actor if actor else geom_gcn.read,
        directed=True,
        splits={"random": (), "geom-gcn": _ten(f"{folder}/raw/{stem}")},
        citations=(_TANG if actor else _WEBKB, _GEOM),
        defects=(*defects, "geom-gcn: " + _NOT_48),
    )


def _heterophilous(
    name: str, nodes: int, features: int, classes: int, edges: int, *defects: str, source: str | None = None
) -> DatasetRecord:
    return DatasetRecord(
        nodes=nodes,
        features=features,
        classes=classes,
        edges=edges,
        files=(f"heterophilous/{name}.npz",),
        read=npz.read_heterophilous,
        splits={"published": (), "random": ()},
        citations=(*([source] if source else []), _PLATONOV),
        defects=defects,
    )


def _csr(file: str, nodes: int, features: int, classes: int, edges: int, source: str) -> DatasetRecord:
    return DatasetRecord(
        nodes=nodes,
        features=features,
        classes=classes,
        edges=edges,
        files=(file,),
        read=npz.read_csr,
        splits={"random": ()},
        citations=(source, _SHCHUR),
        defects=("No split is published.",),
    )


_CORNELL_FIRST = (
    "The graph is Cornell's, but features and labels are those of Texas: a mistake in the first Geom-GCN "
    "release, on which the published GADC figures rest. cornell-corrected has Cornell's features and labels."
)
_CORNELL_LATER = (
    "Figures published before the correction, those of GADC included, are on cornell-as-published."
)
_REPEATED = "Many nodes are copies of each other, also across the parts of a split; see {}-filtered."
_SELF_LOOPS = "The files list {} self-loops, which are left out."
_FIFTEEN = (
    "15 nodes have no features and no label: their rows are zero, their label is -1, and they are in no "
    "split. Loaders that assign them to class 0 find a homophily of 0.736."
)
_WHOLE = "The whole graph, not its largest component."
_PUBMED_TARGETS = (
    "Nettack chose its targets by another split: of the 186 targets, 14 are training nodes and 17 validation "
    "nodes of the split prognn. In the split nettack, published with the attack, all are test nodes."
)
_SMALL_SPLITS = "geom-gcn: splits 4 and 5 cover only 2,120 nodes."

_BUILTIN: dict[str, DatasetRecord] = {
    "cora": _planetoid("cora", 2708, 1433, 7, 5278),
    "citeseer": _planetoid("citeseer", 3327, 3703, 6, 4552, _FIFTEEN, _SMALL_SPLITS, _SELF_LOOPS.format(124)),
    "pubmed": _planetoid("pubmed", 19717, 500, 3, 44324, _SELF_LOOPS.format(3)),
    "cora-prognn": _prognn("cora", 2485, 1433, 7, 5069, _SEN),
    "citeseer-prognn": _prognn("citeseer", 2110, 3703, 6, 3668, _SEN),
    "pubmed-prognn": _prognn(
        "pubmed",
        19717,
        500,
        3,
        44324,
        _NAMATA,
        _WHOLE,
        _PUBMED_TARGETS,
    ),
    "cora_ml-prognn": _prognn(
        "cora_ml",
        2810,
        2879,
        7,
        7981,
        "Bojchevski, Günnemann: Deep Gaussian Embedding of Graphs. ICLR 2018",
    ),
    "polblogs-prognn": _prognn(
        "polblogs",
        1222,
        1222,
        2,
        16714,
        "Adamic, Glance: The Political Blogosphere and the 2004 U.S. Election. LinkKDD 2005",
        "No features are published; the identity matrix takes their place.",
    ),
    "cornell-as-published": _geom_gcn("webkb/cornell", "cornell", 183, 1703, 277, _CORNELL_FIRST),
    "cornell-corrected": _geom_gcn("webkb_corrected/cornell", "cornell", 183, 1703, 277, _CORNELL_LATER),
    "texas": _geom_gcn("webkb/texas", "texas", 183, 1703, 279, "One class has a single node."),
    "wisconsin": _geom_gcn("webkb/wisconsin", "wisconsin", 251, 1703, 450),
    "actor": _geom_gcn("actor", "film", 7600, 932, 26659),
    "chameleon": _heterophilous(
        "chameleon", 2277, 2325, 5, 31371, _REPEATED.format("chameleon"), source=_ROZEMBERCZKI
    ),
    "squirrel": _heterophilous(
        "squirrel", 5201, 2089, 5, 198353, _REPEATED.format("squirrel"), source=_ROZEMBERCZKI
    ),
    "chameleon-filtered": _heterophilous("chameleon_filtered", 890, 2325, 5, 8854, source=_ROZEMBERCZKI),
    "squirrel-filtered": _heterophilous("squirrel_filtered", 2223, 2089, 5, 46998, source=_ROZEMBERCZKI),
    "tolokers": _heterophilous("tolokers", 11758, 10, 2, 519000),
    "minesweeper": _heterophilous("minesweeper", 10000, 7, 2, 39402, "Synthetic: a grid of 100 x 100 cells."),
    "coauthor-cs": _csr("coauthor/CS/raw/ms_academic_cs.npz", 18333, 6805, 15, 81894, _MAG),
    "coauthor-physics": _csr("coauthor/Physics/raw/ms_academic_phy.npz", 34493, 8415, 5, 247962, _MAG),
    "amazon-photo": _csr("amazon/Photo/raw/amazon_electronics_photo.npz", 7650, 745, 8, 119081, _MCAULEY),
    "amazon-computers": _csr(
        "amazon/Computers/raw/amazon_electronics_computers.npz", 13752, 767, 10, 245861, _MCAULEY
    ),
    "cornell5": DatasetRecord(
        nodes=18660,
        features=4735,
        classes=2,
        edges=790777,
        files=("facebook100/Cornell5.mat",),
        read=facebook.read,
        splits={"random": ()},
        citations=(
            "Traud, Mucha, Porter: Social Structure of Facebook Networks. Physica A 2012",
            "Lim et al.: Large Scale Learning on Non-Homophilous Graphs. NeurIPS 2021",
        ),
        defects=(
            "1,838 nodes state no gender: their label is -1.",
            "Not related to the WebKB data set called Cornell.",
        ),
    ),
    "ogbn-arxiv": DatasetRecord(
        nodes=169343,
        features=0,
        classes=40,
        edges=1157799,
        files=("ogbn_arxiv/adj_full.npz", "ogbn_arxiv/class_map.json", "ogbn_arxiv/role.json"),
        read=ogb.read_arxiv,
        directed=True,
        splits={"official": (), "random": ()},
        citations=(_OGB,),
        defects=(
            "The 128 node features are not included: x is None. Results on other features must say so.",
        ),
        licence="ODC-BY",
    ),
    "ogbn-products": DatasetRecord(
        nodes=2449029,
        features=100,
        classes=47,
        edges=None,
        splits={"official": (), "random": ()},
        citations=(_OGB,),
        defects=(
            "Read by the package ogb (an extra), which downloads 1.4 GB.",
            "The GADC paper prints 42 classes.",
        ),
        licence="Amazon licence, as OGB states it",
    ),
    "wordnet": DatasetRecord(
        nodes=117659,
        features=6852,
        classes=45,
        edges=183789,
        files=("wordnet/wordnet30.npz",),
        read=npz.read_csr,
        splits={"random": ()},
        citations=("Fellbaum (ed.): WordNet: An Electronic Lexical Database. MIT Press 1998",),
        defects=(
            "Not a standard benchmark: nodes are synsets of WordNet 3.0, edges pointers, features words.",
            "1,056 nodes have no feature; class sizes are very uneven; dense features take 3.2 GB.",
        ),
        licence="WordNet 3.0 licence",
    ),
    "digits": DatasetRecord(
        nodes=1797,
        features=64,
        classes=10,
        edges=None,
        splits={"random": ()},
        citations=("Alpaydin, Kaynak: Optical Recognition of Handwritten Digits. UCI ML Repository 1998",),
        defects=("The graph is not published: it joins each image with its nearest images.",),
        licence="CC BY 4.0 (UCI)",
    ),
}
REGISTRY = Registry("gadc.datasets", _BUILTIN, as_record)


def register(name: str, make: Maker) -> None:
    """Add a data set that `load`, tables of experiments and all commands then know by its name.

    Args:
        name: Name of the data set; not the name of a built-in one. One that was registered is replaced.
        make: Function without arguments that returns PyTorch Geometric `Data` with `x`, `edge_index`, `y` (-1
            = unlabelled) and, if there is a published split, `train_mask`, `val_mask` and `test_mask`.

    Examples:
        >>> from gadc.datasets import csbm, load, register
        >>> register("blocks", lambda: csbm(60, num_features=4, seed=0))
        >>> load("blocks", split="random", seed=1).num_nodes
        60
    """
    REGISTRY.register(name, make)


def names() -> list[str]:
    """List the names of all data sets that `load` knows.

    Examples:
        >>> from gadc.datasets import names
        >>> names()[:3]
        ['cora', 'citeseer', 'pubmed']
    """
    return list(REGISTRY)


def record(name: str) -> DatasetRecord:
    """Return the record of a data set.

    Raises:
        ValueError: There is no data set of this name; the message lists the names.
    """
    if name == "cornell":
        raise ValueError(
            "data set must be 'cornell-as-published' (with the features and labels of Texas, a mistake in "
            "the first release; the published GADC figures use it) or 'cornell-corrected', got 'cornell'."
        )
    if name not in REGISTRY:
        raise ValueError(f"data set must be one of {', '.join(REGISTRY)}, got {name!r}.")
    return REGISTRY[name]
