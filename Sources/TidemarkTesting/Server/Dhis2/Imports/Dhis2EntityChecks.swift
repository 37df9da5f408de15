// Dhis2EntityChecks.swift — what is wrong with a tracked entity or an enrollment.

import TidemarkEvents

extension Dhis2ServerModel {
    // MARK: Tracked entities

    func problems(
        trackedEntity node: Dhis2Node, _ checking: Dhis2Checking
    ) -> [Dhis2Problem] {
        let known = live(.trackedEntities, node.id)
        for member in ["trackedEntityType", "orgUnit"] where node.text(member) == nil {
            return [
                Dhis2Problem("E1121", "Missing required trackedEntity property: `\(member)`.")
            ]
        }
        let type = node.text("trackedEntityType") ?? ""
        let unit = node.text("orgUnit") ?? ""
        var found: [Dhis2Problem] = []
        if metadatum("trackedEntityTypes", type) == nil {
            found.append(
                Dhis2Problem(
                    "E1005", "Could not find TrackedEntityType: `\(type)`.",
                    old: .conflict(
                        object: "TrackedEntityInstance.trackedEntityType",
                        value: "Invalid trackedEntityType \(type)")))
        }
        if metadatum("organisationUnits", unit) == nil {
            found.append(
                Dhis2Problem(
                    "E1049", "Could not find OrganisationUnit: `\(unit)` linked to TrackedEntity.",
                    old: .conflict(
                        object: "OrganisationUnit",
                        value: "Org unit \(unit) does not point to a valid organisation unit")))
        } else if let problem = capture(unit, checking.user) {
            found.append(problem)
        }
        if let known, known.text("trackedEntityType") != type {
            found.append(
                Dhis2Problem(
                    "E1126", "Not allowed to update trackedEntity property: trackedEntityType."))
        }
        if let problem = readOnly("E1001", "TrackedEntityType", type, checking.user) {
            found.append(problem)
        }
        found += attributes(of: node, owner: node.id)
        if found.isEmpty { found += missingAttributes(node, known, type) }
        return found + ruled(node)
    }

    private func missingAttributes(
        _ node: Dhis2Node, _ known: Dhis2Record?, _ type: String
    ) -> [Dhis2Problem] {
        let items =
            metadatum("trackedEntityTypes", type)?
            .fields["trackedEntityTypeAttributes"]?.array ?? []
        return items.filter { $0["mandatory"]?.boolValue ?? false }
            .compactMap { $0["trackedEntityAttribute"]?["id"]?.stringValue }
            .filter { value(of: $0, node, known) == nil }
            .map {
                .conflict(
                    "E1090",
                    "Attribute: `\($0)` is mandatory in TrackedEntityType `\(type)` but not found "
                        + "in TrackedEntity `\(node.id)`.",
                    "Attribute.value", "Missing mandatory attribute \($0)")
            }
    }

    /// The value that an attribute has after the import.
    private func value(
        of attribute: String, _ node: Dhis2Node, _ known: Dhis2Record?
    ) -> String? {
        let given = node.values.first { $0["attribute"]?.stringValue == attribute }
        guard let given else { return known?.value(of: attribute) }
        return given["value"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// What is wrong with the attributes of a tracked entity, or of one of its enrollments.
    private func attributes(of node: Dhis2Node, owner: String?) -> [Dhis2Problem] {
        node.values.flatMap { item -> [Dhis2Problem] in
            guard let id = item["attribute"]?.stringValue else {
                return [Dhis2Problem("E1075", "Attribute: `null` UID is missing.")]
            }
            guard let attribute = metadatum("trackedEntityAttributes", id) else {
                return [
                    .conflict(
                        "E1006", "Attribute: `\(id)` does not exist.", "Attribute.attribute",
                        "Invalid attribute \(id)")
                ]
            }
            guard let value = item["value"]?.stringValue, !value.isEmpty else { return [] }
            if let problem = problem(value, of: attribute, node.kind, owner: owner) {
                return [problem]
            }
            guard attribute.flag("unique"), isTaken(value, attribute: id, by: owner) else {
                return []
            }
            return [
                .conflict(
                    "E1064", "Non-unique attribute value `\(value)` for attribute `\(id)`.",
                    "Attribute.value", "Non-unique attribute value '\(value)' for attribute \(id)")
            ]
        }
    }

    private func isTaken(_ value: String, attribute: String, by owner: String?) -> Bool {
        (rows[.trackedEntities] ?? [:]).values.contains {
            !$0.isDeleted && $0.id != owner && $0.value(of: attribute) == value
        }
    }

    // MARK: Enrollments

    func problems(enrollment node: Dhis2Node, _ checking: Dhis2Checking) -> [Dhis2Problem] {
        for member in ["trackedEntity", "program", "orgUnit"] where node.text(member) == nil {
            return [
                Dhis2Problem("E1122", "Missing required enrollment property: `\(member)`.")
            ]
        }
        let (owner, program) = (node.text("trackedEntity") ?? "", node.text("program") ?? "")
        let unit = node.text("orgUnit") ?? ""
        guard let trackedEntity = live(.trackedEntities, owner) else {
            return [
                Dhis2Problem(
                    "E1068", "Could not find TrackedEntity: `\(owner)` linked to Enrollment.",
                    old: .conflict(
                        object: "Enrollment.trackedEntityInstance",
                        value: "Invalid trackedEntityInstance \(owner)"))
            ]
        }
        guard let definition = metadatum("programs", program) else {
            return [
                Dhis2Problem(
                    "E1069", "Could not find Program: `\(program)` linked to Enrollment.",
                    old: .conflict(
                        object: "Enrollment.program", value: "Invalid program \(program)"))
            ]
        }
        guard metadatum("organisationUnits", unit) != nil else {
            return [
                Dhis2Problem(
                    "E1070", "Could not find OrganisationUnit: `\(unit)` linked to Enrollment.")
            ]
        }
        var found: [Dhis2Problem] = []
        if let problem = mismatch("E1041", .enrollments, unit, program) { found.append(problem) }
        if let problem = capture(unit, checking.user) { found.append(problem) }
        if let problem = readOnly("E1091", "Program", program, checking.user) {
            found.append(problem)
        }
        found += kind(of: node, definition, trackedEntity)
        found += dates(of: node, definition, checking.now)
        found += repeated(node, definition, owner)
        let known = live(.enrollments, node.id)
        let pair = Dhis2Record(
            kind: .enrollments, id: node.id, sequence: 0, createdAt: checking.now,
            updatedAt: checking.now,
            fields: ["trackedEntity": .string(owner), "program": .string(program)])
        if owners[Dhis2Ownership(trackedEntity: owner, program: program)] != nil,
            let problem = ownership(of: known ?? pair, checking)
        {
            found.append(problem)
        }
        found += programAttributes(of: node, definition, trackedEntity, isNew: known == nil)
        return found + ruled(node)
    }

    /// Whether the program takes tracked entities, and such ones.
    private func kind(
        of node: Dhis2Node, _ program: Dhis2Metadatum, _ trackedEntity: Dhis2Record
    ) -> [Dhis2Problem] {
        if program.text("programType") == "WITHOUT_REGISTRATION" {
            return [
                Dhis2Problem(
                    "E1014",
                    "Provided Program: `\(program.id)` is a Program without registration. An "
                        + "Enrollment cannot be created into Program without registration.")
            ]
        }
        guard let type = program.reference("trackedEntityType"),
            type != trackedEntity.text("trackedEntityType")
        else { return [] }
        return [
            Dhis2Problem(
                "E1022",
                "TrackedEntity: `\(trackedEntity.id)` must have same TrackedEntityType as "
                    + "Program `\(program.id)`.")
        ]
    }

    private func dates(
        of node: Dhis2Node, _ program: Dhis2Metadatum, _ now: Timestamp
    ) -> [Dhis2Problem] {
        guard let text = node.text("enrolledAt"), let enrolledAt = time.parse(text) else {
            return [Dhis2Problem("E1025", "Property enrolledAt is null.")]
        }
        var found: [Dhis2Problem] = []
        if enrolledAt > now, !program.flag("selectEnrollmentDatesInFuture") {
            found.append(
                Dhis2Problem("E1020", "Enrollment date: `\(text)` cannot be a future date."))
        }
        if let text = node.text("occurredAt"), let occurredAt = time.parse(text),
            occurredAt > now, !program.flag("selectIncidentDatesInFuture")
        {
            found.append(
                Dhis2Problem("E1021", "Incident date: `\(text)` cannot be a future date."))
        }
        return found
    }

    /// A tracked entity is active in a program once at a time, in some programs once at all.
    private func repeated(
        _ node: Dhis2Node, _ program: Dhis2Metadatum, _ owner: String
    ) -> [Dhis2Problem] {
        let others = (rows[.enrollments] ?? [:]).values.filter {
            !$0.isDeleted && $0.id != node.id && $0.trackedEntity == owner
                && $0.program == program.id
        }
        if program.flag("onlyEnrollOnce"), !others.isEmpty {
            return [
                Dhis2Problem(
                    "E1016",
                    "TrackedEntity: `\(owner)` already has an Enrollment in Program: "
                        + "`\(program.id)`, and this Program only allows enrolling once.",
                    old: .words(
                        "TrackedEntityInstance \(owner) already has an enrollment in program "
                            + "\(program.id), and this program only allows enrolling one time"))
            ]
        }
        let isActive = (node.text("status") ?? "ACTIVE") == "ACTIVE"
        guard isActive, others.contains(where: { $0.text("status") == "ACTIVE" }) else { return [] }
        return [
            Dhis2Problem(
                "E1015",
                "TrackedEntity: `\(owner)` already has an active Enrollment in Program "
                    + "`\(program.id)`.",
                old: .words(
                    "TrackedEntityInstance \(owner) already has an active enrollment in program "
                        + program.id))
        ]
    }

    private func programAttributes(
        of node: Dhis2Node, _ program: Dhis2Metadatum, _ trackedEntity: Dhis2Record, isNew: Bool
    ) -> [Dhis2Problem] {
        let items = program.fields["programTrackedEntityAttributes"]?.array ?? []
        let wanted = items.compactMap { $0["trackedEntityAttribute"]?["id"]?.stringValue }
        var found = attributes(of: node, owner: trackedEntity.id)
        for item in node.values {
            guard let id = item["attribute"]?.stringValue, !wanted.contains(id),
                metadatum("trackedEntityAttributes", id) != nil
            else { continue }
            found.append(
                .conflict(
                    "E1019",
                    "Only ProgramAttributes are allowed for Enrollment, invalid Attribute: "
                        + "`\(id)`.", "Attribute.attribute", "Invalid attribute \(id)"))
        }
        guard isNew else { return found }
        let mandatory = items.filter { $0["mandatory"]?.boolValue ?? false }
            .compactMap { $0["trackedEntityAttribute"]?["id"]?.stringValue }
        for id in mandatory where value(of: id, node, trackedEntity) == nil {
            found.append(
                .conflict(
                    "E1018",
                    "Attribute: `\(id)` is mandatory in Program `\(program.id)` but not declared "
                        + "in Enrollment `\(node.id)`.", "Attribute.attribute",
                    "Missing mandatory attribute \(id)"))
        }
        return found
    }
}
