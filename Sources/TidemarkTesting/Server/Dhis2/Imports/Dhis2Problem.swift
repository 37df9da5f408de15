// Dhis2Problem.swift — what is wrong with an object, in the words of both importers.

import TidemarkEvents

/// Why an object is not imported, or what is odd about one that is.
struct Dhis2Problem: Sendable, Hashable {
    /// How the old importer tells it.
    enum Old: Sendable, Hashable {
        /// As the description of a summary.
        case words(String)
        /// As a conflict: of what, and which.
        case conflict(object: String, value: String)
    }

    /// The new importer's code.
    var code: String
    /// The new importer's sentence.
    var message: String
    var old: Old
    var isWarning = false

    /// A problem; the old importer tells the same words unless others are given.
    init(_ code: String, _ message: String, old: Old? = nil) {
        self.code = code
        self.message = message
        self.old = old ?? .words(message)
    }

    static func conflict(
        _ code: String, _ message: String, _ object: String, _ value: String
    ) -> Dhis2Problem {
        Dhis2Problem(code, message, old: .conflict(object: object, value: value))
    }
}

/// What the checks of an import go by.
struct Dhis2Checking: Sendable {
    var user: Dhis2User
    var now: Timestamp
    var strategy: Dhis2Strategy
    /// Objects of the same payload that were not imported.
    var failed: [Dhis2Kind: Set<String>] = [:]
}

extension Dhis2ServerModel {
    /// What is wrong with an object, given all that was imported before it.
    func problems(_ node: Dhis2Node, _ checking: Dhis2Checking) -> [Dhis2Problem] {
        if !acceptsAnyID, !Dhis2ID.isValid(node.id) {
            return [
                Dhis2Problem(
                    "E1048",
                    "Object: `\(node.kind.word)`, uid: `\(node.id)`, has an invalid uid format.")
            ]
        }
        if let problem = existence(node, checking) { return [problem] }
        if checking.strategy == .delete { return deletion(node, checking) }
        if let problem = broken(node, checking) ?? moved(node) { return [problem] }
        switch node.kind {
        case .trackedEntities: return problems(trackedEntity: node, checking)
        case .enrollments: return problems(enrollment: node, checking)
        case .events: return problems(event: node, checking)
        case .relationships: return problems(relationship: node, checking)
        }
    }

    /// Whether an object is there as the strategy wants it.
    private func existence(_ node: Dhis2Node, _ checking: Dhis2Checking) -> Dhis2Problem? {
        let known = rows[node.kind]?[node.id]
        let word = node.kind.word
        if let known, known.isDeleted {
            let code = code(node.kind, "E1114", "E1113", "E1082", "E4017")
            return Dhis2Problem(
                code, "\(word): `\(node.id)` is already deleted and cannot be modified.")
        }
        switch checking.strategy {
        case .create where known != nil:
            let code = code(node.kind, "E1002", "E1080", "E1030", "E4015")
            let comma = node.kind == .trackedEntities ? "," : ""
            return Dhis2Problem(
                code, "\(word): `\(node.id)`\(comma) already exists.",
                old: .words("\(word) \(node.id) already exists"))
        case .update where known == nil, .delete where known == nil:
            let code = code(node.kind, "E1063", "E1081", "E1032", "E4016")
            let message =
                node.kind == .trackedEntities
                ? "\(word): `\(node.id)`, does not exist." : "\(word): `\(node.id)` do not exist."
            return Dhis2Problem(code, message)
        default: return nil
        }
    }

    private func code(
        _ kind: Dhis2Kind, _ trackedEntity: String, _ enrollment: String, _ event: String,
        _ relationship: String
    ) -> String {
        switch kind {
        case .trackedEntities: trackedEntity
        case .enrollments: enrollment
        case .events: event
        case .relationships: relationship
        }
    }

    private func deletion(_ node: Dhis2Node, _ checking: Dhis2Checking) -> [Dhis2Problem] {
        guard let record = live(node.kind, node.id) else { return [] }
        if let unit = record.orgUnit, let problem = capture(unit, checking.user) {
            return [problem]
        }
        return ownership(of: record, checking).map { [$0] } ?? []
    }

    /// Refuses what refers to an object of the same payload that was not imported.
    private func broken(_ node: Dhis2Node, _ checking: Dhis2Checking) -> Dhis2Problem? {
        for (kind, id) in parents(of: node)
        where live(kind, id) == nil && checking.failed[kind]?.contains(id) == true {
            return Dhis2Problem(
                "E5000",
                "\(node.kind.word) `\(node.id)` cannot be created because \(kind.word) `\(id)` "
                    + "referenced by it could not be created.")
        }
        return nil
    }

    /// Refuses what would belong to something else than before.
    private func moved(_ node: Dhis2Node) -> Dhis2Problem? {
        guard let known = live(node.kind, node.id) else { return nil }
        let fixed: (code: String, word: String, members: [String]) =
            switch node.kind {
            case .enrollments: ("E1127", "enrollment", ["program", "trackedEntity"])
            case .events: ("E1128", "event", ["programStage", "enrollment"])
            case .trackedEntities, .relationships: ("", "", [])
            }
        let member = fixed.members.first { member in
            guard let old = known.text(member), let new = node.text(member) else { return false }
            return old != new
        }
        return member.map {
            Dhis2Problem(
                fixed.code, "Not allowed to update \(fixed.word) property: \($0).")
        }
    }

    private func parents(of node: Dhis2Node) -> [(Dhis2Kind, String)] {
        switch node.kind {
        case .trackedEntities: []
        case .enrollments: node.text("trackedEntity").map { [(.trackedEntities, $0)] } ?? []
        case .events: node.text("enrollment").map { [(.enrollments, $0)] } ?? []
        case .relationships:
            ["from", "to"].compactMap { node.fields[$0]?.object.flatMap(Dhis2End.init) }
                .map { ($0.kind, $0.id) }
        }
    }

    // MARK: What several kinds share

    func capture(_ unit: String, _ user: Dhis2User) -> Dhis2Problem? {
        guard !isInCaptureScope(unit, user) else { return nil }
        return Dhis2Problem(
            "E1000",
            "User: `\(user.id)` has no capture scope access to OrganisationUnit: `\(unit)`.",
            old: .words("User has no write access to organisation unit: \(unit)"))
    }

    /// Why a user may not write an object of somebody else's; what clients understand as a broken
    /// glass: E1102 for an enrollment, E1000 for an event.
    func ownership(of record: Dhis2Record, _ checking: Dhis2Checking) -> Dhis2Problem? {
        let enrollment =
            record.kind == .enrollments
            ? record : record.enrollment.flatMap { rows[.enrollments]?[$0] }
        guard let id = enrollment?.trackedEntity, let program = enrollment?.program else {
            return nil
        }
        let pair = Dhis2Ownership(trackedEntity: id, program: program)
        guard let words = denial(pair, checking.user, checking.now) else { return nil }
        if record.kind == .events {
            return Dhis2Problem(
                "E1000",
                "User: `\(checking.user.id)` has no capture scope access to OrganisationUnit: "
                    + "`\(owner(pair) ?? "")`.", old: .words(words))
        }
        return Dhis2Problem(
            "E1102",
            "User: `\(checking.user.id)` does not have access to the TrackedEntity: `\(id)` and "
                + "Program: `\(program)`.", old: .words(words))
    }

    func readOnly(
        _ code: String, _ word: String, _ id: String?, _ user: Dhis2User
    ) -> Dhis2Problem? {
        guard let id, user.readOnly.contains(id) else { return nil }
        return Dhis2Problem(
            code, "User: `\(user.id)` has no data write access to \(word): `\(id)`.",
            old: .words("User has no data write access to \(word): \(id)"))
    }

    /// How a sentence names a unit or a program: as a thing up to 2.41, by its id alone later.
    func named(_ word: String, _ id: String) -> String {
        version < .v42 ? "`\(word) (\(id))`" : "`\(id)`"
    }

    /// A unit and a program that do not belong together.
    func mismatch(
        _ code: String, _ kind: Dhis2Kind, _ unit: String, _ program: String
    ) -> Dhis2Problem? {
        let units = metadatum("programs", program)?.references("organisationUnits") ?? []
        guard !units.contains(unit) else { return nil }
        let names = (named("OrganisationUnit", unit), named("Program", program))
        let comma = version < .v42 || kind == .events ? "," : ""
        let end = version < .v42 ? "dont match." : "do not match."
        let and = version < .v42 ? ", and" : " and"
        return Dhis2Problem(
            code,
            "\(kind.word) OrganisationUnit: \(names.0)\(and) Program: \(names.1)\(comma) \(end)",
            old: .words("Program is not assigned to this Organisation Unit: \(unit)"))
    }

    /// What is wrong with a value of an attribute or a data element.
    ///
    /// - Parameter owner: the object that has the value; nil for one that is not known.
    func problem(
        _ value: String, of element: Dhis2Metadatum, _ kind: Dhis2Kind, owner: String?
    ) -> Dhis2Problem? {
        let type = Dhis2ValueType(name: element.text("valueType") ?? "TEXT")
        if let problem = type.problem(value, time) {
            if kind == .events {
                return .conflict(
                    "E1302", "DataElement `\(element.id)` is not valid: `\(problem.key)`.",
                    element.id, problem.key)
            }
            let words = problem.words.replacingPrefix("Data value", with: "Value '\(value)'")
            return .conflict(
                "E1007",
                "Error validating attribute value type: `\(type.name)`; Error: `\(words)`.",
                "Attribute.value", "\(words) for attribute \(element.id)")
        }
        if type.isFile, files[value] == nil {
            return .conflict(
                "E1084", "File resource: `\(value)`, reference could not be found.", element.id,
                "File resource with uid '\(value)' could not be found")
        }
        if type.isFile, let other = files[value]?.owner, other != owner {
            return .conflict(
                "E1009",
                "File resource: `\(value)`, has already been assigned to a different object.",
                element.id,
                "File resource with uid '\(value)' has already been assigned to a different object")
        }
        guard let set = element.reference("optionSet"), !isOption(value, of: set) else {
            return nil
        }
        let message = "Value `\(value)` is not a valid option code in OptionSet `\(set)`."
        return kind == .events
            ? .conflict("E1125", message, element.id, "value_not_valid_option")
            : .conflict("E1125", message, "Attribute.value", message)
    }

    /// Whether a value is the code of an option; a set without options accepts all.
    private func isOption(_ value: String, of set: String) -> Bool {
        let inside = (metadatum("optionSets", set)?.fields["options"]?.array ?? [])
            .compactMap { option in
                option["code"]?.stringValue
                    ?? metadatum("options", option["id"]?.stringValue)?.text("code")
            }
        let around = (metadata["options"] ?? []).filter { $0.reference("optionSet") == set }
            .compactMap { $0.text("code") }
        let codes = inside + around
        return codes.isEmpty || codes.contains(value)
    }

    /// What the rules say about the values of an object.
    func ruled(_ node: Dhis2Node) -> [Dhis2Problem] {
        valueRules.flatMap { rule in
            node.values.filter {
                $0[node.kind.valueKey]?.stringValue == rule.element
                    && (rule.value == nil || $0["value"]?.stringValue == rule.value)
            }.map { _ in
                var problem = Dhis2Problem.conflict(
                    "E1300", "Generated by ProgramRule (`\(rule.id)`) - `\(rule.message)`.",
                    rule.element, rule.message)
                problem.isWarning = rule.severity == .warning
                return problem
            }
        }
    }
}

extension String {
    fileprivate func replacingPrefix(_ prefix: String, with other: String) -> String {
        hasPrefix(prefix) ? other + dropFirst(prefix.count) : self
    }
}
