// Dhis2Summary.swift — what the old importers say: a summary an object, and summaries in it.

import TidemarkEvents

/// A summary of what became of an object.
struct Dhis2Summary: Sendable {
    enum Status: String, Sendable, Comparable {
        case success = "SUCCESS"
        case warning = "WARNING"
        case error = "ERROR"

        private var rank: Int { self == .success ? 0 : self == .warning ? 1 : 2 }

        static func < (left: Status, right: Status) -> Bool { left.rank < right.rank }
    }

    var status = Status.success
    var description: String?
    var outcome = Dhis2Outcome.ignored
    var conflicts: [(object: String, value: String)] = []
    /// The object's id; nil where it is not there.
    var reference: String?
    var kind = Dhis2Kind.trackedEntities
    var children: [Dhis2Summary]?

    /// A summary of an object.
    init(_ kind: Dhis2Kind, _ id: String?, _ outcome: Dhis2Outcome = .ignored) {
        self.kind = kind
        self.outcome = outcome
        reference = id
    }

    mutating func add(_ problem: Dhis2Problem) {
        status = max(status, problem.isWarning ? .warning : .error)
        switch problem.old {
        case .words(let words): description = description.map { $0 + "; " + words } ?? words
        case .conflict(let object, let value): conflicts.append((object, value))
        }
    }

    var json: JSONObject {
        var object: JSONObject = [
            "responseType": "ImportSummary", "status": .string(status.rawValue),
        ]
        if let description { object["description"] = .string(description) }
        object["importCount"] = Self.count([outcome])
        object["conflicts"] = .array(
            conflicts.map { ["object": .string($0.object), "value": .string($0.value)] })
        if let reference {
            object["reference"] = .string(reference)
            object["href"] = .string("http://127.0.0.1/api/\(kind.oldName)/\(reference)")
        }
        if let children {
            let member = kind == .trackedEntities ? "enrollments" : "events"
            object[member] = .object(Self.json(children, options: nil))
        }
        return object
    }

    /// Several summaries as one; the worst status counts, not that of what is in them.
    static func json(_ summaries: [Dhis2Summary], options: JSONObject?) -> JSONObject {
        let status = summaries.map(\.status).max() ?? .success
        var object: JSONObject = [
            "responseType": "ImportSummaries", "status": .string(status.rawValue),
        ]
        for (key, value) in count(summaries.map(\.outcome)).object ?? JSONObject() {
            object[key] = value
        }
        if let options { object["importOptions"] = .object(options) }
        object["importSummaries"] = .array(summaries.map { .object($0.json) })
        object["total"] = .integer(Int64(summaries.count))
        return object
    }

    /// How many were imported, updated, deleted and ignored.
    static func count(_ outcomes: [Dhis2Outcome]) -> JSONValue {
        let number = { (outcome: Dhis2Outcome) in
            JSONValue.integer(Int64(outcomes.count { $0 == outcome }))
        }
        return [
            "imported": number(.created), "updated": number(.updated),
            "ignored": number(.ignored), "deleted": number(.deleted),
        ]
    }

    /// The options of an import as it was done; all but the strategy are the usual ones.
    static func options(_ strategy: Dhis2Strategy) -> JSONObject {
        var options: JSONObject = [
            "idSchemes": [:], "dryRun": false, "async": false,
            "importStrategy": .string(strategy.rawValue), "mergeMode": "REPLACE",
            "reportMode": "FULL",
        ]
        let off = [
            "skipExistingCheck", "sharing", "skipNotifications", "skipAudit",
            "datasetAllowsPeriods", "strictPeriods", "strictDataElements",
            "strictCategoryOptionCombos", "strictAttributeOptionCombos",
            "strictOrganisationUnits", "requireCategoryOptionCombo",
            "requireAttributeOptionCombo", "skipPatternValidation", "ignoreEmptyCollection",
            "force",
        ]
        for key in off { options[key] = false }
        options["firstRowIsHeader"] = true
        for key in ["skipLastUpdated", "mergeDataValues", "skipCache"] { options[key] = false }
        return options
    }
}
