// Dhis2EventChecks.swift — what is wrong with an event or a relationship.

import TidemarkEvents

extension Dhis2ServerModel {
    // MARK: Events

    func problems(event node: Dhis2Node, _ checking: Dhis2Checking) -> [Dhis2Problem] {
        for member in ["orgUnit", "programStage", "program"] where node.text(member) == nil {
            return [Dhis2Problem("E1123", "Missing required event property: `\(member)`.")]
        }
        let (unit, program) = (node.text("orgUnit") ?? "", node.text("program") ?? "")
        let stage = node.text("programStage") ?? ""
        guard let definition = metadatum("programs", program) else {
            return [
                Dhis2Problem(
                    "E1010", "Could not find Program: `\(program)`, linked to Event.",
                    old: .words("Event.program does not point to a valid program: \(program)"))
            ]
        }
        guard let stageDefinition = metadatum("programStages", stage) else {
            return [
                Dhis2Problem(
                    "E1013", "Could not find ProgramStage: `\(stage)`, linked to Event.",
                    old: .words(
                        "Event.programStage does not point to a valid programStage: \(stage)"))
            ]
        }
        guard metadatum("organisationUnits", unit) != nil else {
            return [
                Dhis2Problem(
                    "E1011", "Could not find OrganisationUnit: `\(unit)`, linked to Event.",
                    old: .words(
                        "Event.orgUnit does not point to a valid organisation unit: \(unit)"))
            ]
        }
        var found: [Dhis2Problem] = []
        if let problem = mismatch("E1029", .events, unit, program) { found.append(problem) }
        if let problem = capture(unit, checking.user) { found.append(problem) }
        if let problem = readOnly("E1095", "ProgramStage", stage, checking.user)
            ?? readOnly("E1091", "Program", program, checking.user)
        {
            found.append(problem)
        }
        if let owner = stageDefinition.reference("program"), owner != program {
            found.append(
                Dhis2Problem(
                    "E1089",
                    "Event: `\(node.id)` references ProgramStage `\(stage)` which do not belong "
                        + "to Program `\(program)`."))
        }
        found += place(of: node, definition, stageDefinition, checking)
        found += dates(of: node)
        found += dataValues(of: node, stageDefinition)
        return found + ruled(node)
    }

    /// What is wrong with the enrollment of an event.
    private func place(
        of node: Dhis2Node, _ program: Dhis2Metadatum, _ stage: Dhis2Metadatum,
        _ checking: Dhis2Checking
    ) -> [Dhis2Problem] {
        guard program.text("programType") != "WITHOUT_REGISTRATION" else { return [] }
        guard let id = node.text("enrollment") else {
            return [
                Dhis2Problem(
                    "E1033",
                    version < .v42
                        ? "Event: `\(node.id)`, Enrollment value is NULL."
                        : "Event: `\(node.id)` Enrollment value is null.",
                    old: .words("Event.enrollment is missing: \(node.id)"))
            ]
        }
        guard let enrollment = live(.enrollments, id) else {
            return [
                Dhis2Problem(
                    "E1033", "Event: `\(node.id)`, could not find Enrollment: `\(id)`.",
                    old: .words("Event.enrollment does not point to a valid enrollment: \(id)"))
            ]
        }
        if enrollment.program != program.id {
            return [
                Dhis2Problem(
                    "E1079",
                    "Event: `\(node.id)` Program: `\(program.id)` is different from Program "
                        + "defined in Enrollment `\(id)`.")
            ]
        }
        let record = Dhis2Record(
            kind: .events, id: node.id, sequence: 0, createdAt: checking.now,
            updatedAt: checking.now, fields: ["enrollment": .string(id)])
        if let problem = ownership(of: record, checking) { return [problem] }
        let others = (rows[.events] ?? [:]).values.contains {
            !$0.isDeleted && $0.id != node.id && $0.enrollment == id
                && $0.text("programStage") == stage.id
        }
        guard others, stage.fields["repeatable"]?.boolValue == false else { return [] }
        return [
            Dhis2Problem(
                "E1039",
                "ProgramStage: `\(stage.id)` is not repeatable and an Event already exists.",
                old: .words("Program stage is not repeatable and an event already exists"))
        ]
    }

    private func dates(of node: Dhis2Node) -> [Dhis2Problem] {
        let status = node.text("status") ?? "ACTIVE"
        let isPlanned = ["SCHEDULE", "OVERDUE", "SKIPPED"].contains(status)
        let occurredAt = node.text("occurredAt").flatMap(time.parse)
        if !isPlanned, occurredAt == nil {
            return [
                Dhis2Problem(
                    "E1031", "Event occurredAt date is missing.",
                    old: .words("Event date is required"))
            ]
        }
        if status == "SCHEDULE", node.text("scheduledAt").flatMap(time.parse) == nil {
            return [Dhis2Problem("E1050", "Event ScheduledAt date is missing.")]
        }
        return []
    }

    private func dataValues(of node: Dhis2Node, _ stage: Dhis2Metadatum) -> [Dhis2Problem] {
        let items = stage.fields["programStageDataElements"]?.array ?? []
        let wanted = items.compactMap { $0["dataElement"]?["id"]?.stringValue }
        var found = node.values.compactMap { item -> Dhis2Problem? in
            let id = item["dataElement"]?.stringValue ?? ""
            guard let element = metadatum("dataElements", id) else {
                return .conflict(
                    "E1304", "DataElement `\(id)` is not a valid DataElement.", "dataElement",
                    "\(id) is not a valid data element")
            }
            if !wanted.isEmpty, !wanted.contains(id) {
                return .conflict(
                    "E1305", "DataElement `\(id)` is not part of ProgramStage `\(stage.id)`.",
                    "dataElement", "\(id) is not a valid data element")
            }
            guard let value = item["value"]?.stringValue, !value.isEmpty else { return nil }
            return problem(value, of: element, .events, owner: node.id)
        }
        guard node.text("status") == "COMPLETED" else { return found }
        let known = live(.events, node.id)
        let compulsory = items.filter { $0["compulsory"]?.boolValue ?? false }
            .compactMap { $0["dataElement"]?["id"]?.stringValue }
        for id in compulsory {
            let given = node.values.first { $0["dataElement"]?.stringValue == id }
            let value = given.map { $0["value"]?.stringValue } ?? known?.value(of: id)
            guard value?.isEmpty ?? true else { continue }
            found.append(
                .conflict(
                    "E1303", "Mandatory DataElement `\(id)` is not present.", id,
                    "value_required_but_not_provided"))
        }
        return found
    }

    // MARK: Relationships

    func problems(relationship node: Dhis2Node, _ checking: Dhis2Checking) -> [Dhis2Problem] {
        if live(.relationships, node.id) != nil {
            // Relationships are never changed.
            var problem = Dhis2Problem(
                "E4015", "Relationship: `\(node.id)` already exists.",
                old: .words("Relationship \(node.id) already exists"))
            problem.isWarning = true
            return [problem]
        }
        for member in ["relationshipType", "from", "to"] where node.fields[member] == .none {
            return [
                Dhis2Problem("E1124", "Missing required relationship property: `\(member)`.")
            ]
        }
        let type = node.text("relationshipType") ?? ""
        guard metadatum("relationshipTypes", type) != nil else {
            return [
                Dhis2Problem(
                    "E4006", "Could not find RelationshipType: `\(type)`.",
                    old: .words("relationshipType \(type) not found."))
            ]
        }
        var ends: [Dhis2End] = []
        for member in ["from", "to"] {
            guard let end = node.fields[member]?.object.flatMap(Dhis2End.init) else {
                return [
                    Dhis2Problem(
                        "E4001",
                        "RelationshipItem `\(member)` for Relationship `\(node.id)` is invalid as "
                            + "an item must be associated with exactly one of TrackedEntity, "
                            + "Enrollment, Event.")
                ]
            }
            guard live(end.kind, end.id) != nil else {
                return [
                    Dhis2Problem(
                        "E4012",
                        "Could not find `\(end.kind.idMember)`: `\(end.id)`, linked to "
                            + "relationship.",
                        old: .words("\(end.kind.oldIDMember) \(end.id) not found."))
                ]
            }
            ends.append(end)
        }
        let (from, to) = (ends[0], ends[1])
        if from == to {
            return [Dhis2Problem("E4000", "Relationship: `\(node.id)` cannot link to itself.")]
        }
        let isThere = (rows[.relationships] ?? [:]).values.contains {
            !$0.isDeleted && $0.id != node.id && $0.text("relationshipType") == type
                && $0.end("from") == from && $0.end("to") == to
        }
        guard isThere else { return [] }
        return [
            Dhis2Problem(
                "E4018",
                "Relationship: `\(node.id)` linking \(from.kind.idMember): `\(from.id)` to "
                    + "\(to.kind.idMember): `\(to.id)` already exists.",
                old: .words("Relationship \(node.id) already exists"))
        ]
    }
}
