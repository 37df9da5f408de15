// Dhis2ValueType.swift — which texts are values of which type.

import TidemarkEvents

/// What is wrong with a value.
struct Dhis2ValueProblem: Sendable, Hashable {
    /// As the old importer has it: `value_not_numeric`.
    var key: String
    /// As sentences have it: `Data value is not numeric`.
    var words: String

    init(_ key: String, _ words: String) {
        self.key = key
        self.words = "Data value " + words
    }
}

/// A type of values; one that is not known accepts every text.
struct Dhis2ValueType: Sendable, Hashable {
    var name: String

    /// What is wrong with a value; nil when it is one of this type.
    func problem(_ value: String, _ time: Dhis2Time) -> Dhis2ValueProblem? {
        switch name {
        case "BOOLEAN":
            ["true", "false"].contains(value)
                ? nil : .init("value_not_bool", "is not a boolean")
        case "TRUE_ONLY":
            value == "true" ? nil : .init("value_not_true_only", "is not true")
        case "DATE", "AGE":
            isDay(value, time)
                ? nil : .init("value_not_valid_date", "is not a valid date")
        case "DATETIME":
            time.parse(value) != nil
                ? nil : .init("value_not_valid_datetime", "is not a valid datetime")
        case "FILE_RESOURCE", "IMAGE":
            Dhis2ID.isValid(value)
                ? nil
                : .init("value_not_valid_file_resource_uid", "is not a valid file resource uid")
        case "NUMBER", "UNIT_INTERVAL", "PERCENTAGE": number(value)
        default: name.hasPrefix("INTEGER") ? integer(value) : nil
        }
    }

    /// Whether its values are ids of files.
    var isFile: Bool { name == "FILE_RESOURCE" || name == "IMAGE" }

    private func isDay(_ value: String, _ time: Dhis2Time) -> Bool {
        value.utf8.count >= 10 && time.parse(value) != nil
    }

    private func number(_ value: String) -> Dhis2ValueProblem? {
        guard let number = JSONNumber(text: value)?.double else {
            return .init("value_not_numeric", "is not numeric")
        }
        if name == "UNIT_INTERVAL", !(0...1).contains(number) {
            return .init("value_not_unit_interval", "is not a unit interval")
        }
        if name == "PERCENTAGE", !(0...100).contains(number) {
            return .init("value_not_percentage", "is not a percentage")
        }
        return nil
    }

    private func integer(_ value: String) -> Dhis2ValueProblem? {
        guard let number = JSONNumber(text: value)?.int64 else {
            return .init("value_not_integer", "is not an integer")
        }
        return switch name {
        case "INTEGER_POSITIVE" where number <= 0:
            .init("value_not_positive_integer", "is not a positive integer")
        case "INTEGER_NEGATIVE" where number >= 0:
            .init("value_not_negative_integer", "is not a negative integer")
        case "INTEGER_ZERO_OR_POSITIVE" where number < 0:
            .init("value_not_zero_or_positive_integer", "is not zero or a positive integer")
        default: nil
        }
    }
}
