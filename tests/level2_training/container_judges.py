# SPDX-License-Identifier: Apache-2.0
"""Other programs' side of container_judges_test.

    container_judges.py {numpy,tar,tensorflow} {write,read} FOLDER

`write` leaves files in FOLDER for d5 to read; `read` checks the files that d5 wrote there: the samples of
mixed_samples.hpp. Exit status 3: this Python lacks the package.
"""
import io
import json
import pathlib
import struct
import sys
import tarfile

try:
    import numpy
except ImportError:
    sys.exit(3)

SAMPLES = 11


def name_of(i: int) -> str:
    return [f"n01440764/a_{i}.tar.JPEG", f"../x%2E y\n{i}", "l" * 150 + str(i), str(i)][i % 4]


def sample(i: int) -> dict[str, numpy.ndarray | bytes]:
    return {
        "image": (i * numpy.arange(12)).astype(numpy.uint8).reshape(2, 3, 2),
        "label": numpy.int64(i if i % 2 == 0 else -i),
        "text/plain.txt": b"\0\xff\n" + b"x" * i,
        "boxes": numpy.full((i % 3, 2), numpy.float32(i) / numpy.float32(3)),
        "wave": numpy.full(i % 5, 1.0 / (i + 1)),
        "flags": numpy.array([i % 2 == 0, i % 3 == 0]),
        "half.npy": numpy.float16(i),
        "counts": numpy.full(i % 2, -1, numpy.int64),
    }


def check(given, i: int, field: str) -> None:
    expected = sample(i)[field]
    if isinstance(expected, bytes):
        assert given == expected, f"sample {i}, {field}: {given!r}"
        return
    expected = numpy.asarray(expected)
    is_same = given.dtype == expected.dtype and given.shape == expected.shape and (given == expected).all()
    assert is_same, f"sample {i}, {field}: {given!r}, expected {expected!r}"


def texts(data: numpy.ndarray, ends: numpy.ndarray) -> list[bytes]:
    return [data[begin:end].tobytes() for begin, end in zip([0, *ends[:-1]], ends)]


def check_columns(columns: dict[str, numpy.ndarray]) -> None:
    for field in ("image", "label", "flags", "half.npy"):
        assert columns[field].shape[0] == SAMPLES
        for i, row in enumerate(columns[field]):
            check(row, i, field)
    for i, text in enumerate(texts(columns["text/plain.txt"], columns["text/plain.txt/ends"])):
        check(text, i, "text/plain.txt")
    for field in ("boxes", "wave", "counts"):
        begin = 0
        for i, shape in enumerate(columns[field + "/shapes"]):
            end = begin + int(numpy.prod(shape))
            check(columns[field][begin:end].reshape(shape), i, field)
            begin = end
    for i, name in enumerate(texts(columns["__key__"], columns["__key__/ends"])):
        assert name.decode() == name_of(i), name


def numpy_write(folder: pathlib.Path) -> None:
    values = numpy.arange(24, dtype=numpy.float32).reshape(4, 2, 3)
    for version in (1, 2, 3):
        with open(folder / f"v{version}.npy", "wb") as file:
            numpy.lib.format.write_array(file, values, (version, 0))
    numpy.save(folder / "fortran.npy", numpy.asfortranarray(values))
    numpy.savez(folder / "stored.npz", x=values, label=numpy.arange(4))
    numpy.savez_compressed(folder / "packed.npz", x=numpy.asfortranarray(values), label=numpy.arange(4))
    numpy.save(folder / "objects.npy", numpy.array([{}, 1], dtype=object), allow_pickle=True)


def numpy_read(folder: pathlib.Path) -> None:
    for name in ("stored.npz", "packed.npz"):
        with numpy.load(folder / name) as file:
            check_columns({key: file[key] for key in file.files if key != "d5.fields.json"})
    images = numpy.load(folder / "images.npy", mmap_mode="r")
    for i in range(SAMPLES):
        check(images[i], i, "image")
    raw = (folder / "a.safetensors").read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header, data = json.loads(raw[8:8 + length]), raw[8 + length:]
    types = {"U8": "u1", "I64": "<i8", "F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "?"}
    assert header.pop("__metadata__")["format"] == "d5 samples"
    columns, covered = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        assert begin == covered, "safetensors allows no holes"
        covered = end
        columns[name] = numpy.frombuffer(data[begin:end], types[entry["dtype"]]).reshape(entry["shape"])
    assert covered == len(data)
    check_columns(columns)


def tar_write(folder: pathlib.Path) -> None:
    for word, form in (("ustar", tarfile.USTAR_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)):
        with tarfile.open(folder / f"{word}.tar", "w", format=form) as archive:
            def add(name: str, data: bytes) -> None:
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))

            entry = tarfile.TarInfo("train")
            entry.type = tarfile.DIRTYPE
            archive.addfile(entry)
            add("__about__/notes.txt", b"passed over")
            for i in range(4):
                # ustar has room for 155 bytes of folders and 100 of the name.
                more = "\u00e9" * 200 if i == 3 and word != "ustar" else ""
                stem = "train/" + "f" * 120 + f"/{i:06}" + more
                add(stem + ".JPEG", bytes([i]) * (500 + i * 13))
                add(stem + ".cls", f"{i - 2}\n".encode())
                array = io.BytesIO()
                numpy.save(array, numpy.full((i + 1, 2), i, numpy.float64))
                add(stem + ".box.npy", array.getvalue())
                add(stem + ".json", json.dumps({"i": i}).encode())


def tar_read(folder: pathlib.Path) -> None:
    suffixes = ["image.npy", "label.cls", "text%2Fplain.txt", "boxes.npy", "wave.npy", "flags.npy", "half.npy",
                "counts.npy"]
    stems = set()
    with tarfile.open(folder / "a.tar") as archive:
        fields = [field["name"] for field in json.loads(archive.pax_headers["D5.fields"])]
        assert fields == list(sample(0))
        for number, member in enumerate(archive):
            i, field = divmod(number, len(suffixes))
            # WebDataset's rule: what precedes the first dot of the last part of the path.
            parent, _, last = member.name.rpartition("/")
            stem, _, suffix = last.partition(".")
            assert suffix == suffixes[field], member.name
            stems.add((i, parent, stem))
            data = archive.extractfile(member).read()
            if suffix.endswith("npy"):
                data = numpy.load(io.BytesIO(data))
            elif suffix.endswith("cls"):
                data = numpy.int64(data.decode())
            check(data, i, fields[field])
        assert number + 1 == SAMPLES * len(suffixes)
    assert len(stems) == SAMPLES


def feature(value: list):
    import tensorflow as tf

    if not value or isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    if isinstance(value[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=value))
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


def tensorflow_write(folder: pathlib.Path) -> None:
    import tensorflow as tf

    for compression in ("", "GZIP", "ZLIB"):
        with tf.io.TFRecordWriter(str(folder / f"tf{compression}.tfrecord"), compression) as writer:
            for i in range(30):
                features = {"image/encoded": [bytes([i]) * (i * 50)], "image/class/label": [i - 2**40],
                            "box": [i / 4, 0.5, 0.25, 1e30], "tags": [b"a"] * (i % 3)}
                if i % 2:
                    features["note"] = [-i, i]
                example = tf.train.Example(features=tf.train.Features(
                    feature={name: feature(value) for name, value in features.items()}))
                writer.write(example.SerializeToString())


def tensorflow_read(folder: pathlib.Path) -> None:
    import tensorflow as tf

    for compression in ("", "GZIP", "ZLIB"):
        records = list(tf.data.TFRecordDataset(str(folder / f"a{compression}.tfrecord"), compression))
        assert len(records) == SAMPLES
        for i, record in enumerate(records):
            features = tf.train.Example.FromString(record.numpy()).features.feature
            key = features["__key__"].bytes_list.value
            assert (key[0].decode() if key else str(i)) == name_of(i), key
            for field, expected in sample(i).items():
                value, array = features[field], numpy.asarray(expected)
                if isinstance(expected, bytes):
                    assert list(value.bytes_list.value) == [expected]
                elif array.dtype == numpy.int64:
                    assert list(value.int64_list.value) == array.ravel().tolist()
                elif array.dtype == numpy.float32:
                    assert numpy.float32(value.float_list.value).tolist() == array.ravel().tolist()
                    assert list(features[field + "/shape"].int64_list.value) == list(array.shape)
                else:
                    assert list(value.bytes_list.value) == [array.tobytes()]


try:
    globals()[f"{sys.argv[1]}_{sys.argv[2]}"](pathlib.Path(sys.argv[3]))
except ImportError:
    sys.exit(3)
