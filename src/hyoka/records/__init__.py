# SPDX-License-Identifier: Apache-2.0
"""Game records: reading and writing of every notation, with one data model."""

from hyoka.records.formats import FORMATS, recognize
from hyoka.records.reading import (
    Batch,
    RecordStream,
    Refused,
    UnreadableNumber,
    batches,
    parse_records,
    read_record,
    read_records,
    records_in,
)
from hyoka.records.record import ENDINGS, Record, Remark
from hyoka.records.writing import WRITERS, record_text, write_records

__all__ = [
    "ENDINGS",
    "FORMATS",
    "WRITERS",
    "Batch",
    "Record",
    "RecordStream",
    "Refused",
    "Remark",
    "UnreadableNumber",
    "batches",
    "parse_records",
    "read_record",
    "read_records",
    "recognize",
    "record_text",
    "records_in",
    "write_records",
]
