// Dhis2Remedies.swift — what is done about a write in a protected program that DHIS2 did not take:
// the glass is broken, and the write is sent again.
//
//   up to 2.39     an enrollment that the summaries leave out; OWNERSHIP_ACCESS_DENIED
//   from 2.40 on   E1102 of an enrollment, E1000 of an event
//
// What was left alone beside it goes along: what stands in a refused enrollment was not looked at.

public import TidemarkEvents
public import TidemarkSync

extension Dhis2Adapter {
    /// Breaks the glass of a protected program whose owner the user is not.
    ///
    /// The program and, of an event, its enrollment are to be known here. The reason is the one
    /// that the user gave last for that tracked entity, where that was in the same program.
    public func remedy(
        for answer: ServerAnswer, to call: ServerCall,
        _ document: (EntityKey) -> JSONDocument?,
        asked: (EntityKey, String) -> [String: String]?
    ) -> ServerRemedy? {
        guard let collection = call.collection, let write = call.write, !call.isAction
        else { return nil }
        let kind = Dhis2Kind(collection.name)
        guard kind == .enrollments || kind == .events,
            let isDenied = isDenied(answer, kind),
            let own = write.body.flatMap({ try? JSONDocument(parsing: $0) })
                ?? document(EntityKey(collection.name, write.id)),
            let enrollment = kind == .enrollments
                ? own
                : own.text("enrollment").flatMap({ document(EntityKey("enrollments", $0)) }),
            let id = enrollment.text(dialect.idField(of: .trackedEntities)),
            let program = enrollment.text("program") ?? own.text("program"),
            document(EntityKey("programs", program))?.text("accessLevel") == "PROTECTED"
        else { return nil }
        let key = EntityKey("trackedEntities", id)
        let last = asked(key, "override")
        let known = last?["program"] == program ? last?["reason"] : nil
        let reason = known ?? "no reason was given on this device"
        return ServerRemedy(
            "override", of: key,
            parameters: ["program": program, "reason": "Tidemark sync: \(reason)"],
            isAsked: isDenied)
    }

    /// Whether an answer denies access to who is no owner; false where it says nothing of a write,
    /// nil where it says something else.
    private func isDenied(_ answer: ServerAnswer, _ kind: Dhis2Kind) -> Bool? {
        switch answer {
        case .ignored: return dialect.generation == .old && kind == .enrollments
        case .refused(let refusal):
            switch dialect.generation {
            case .old:
                let messages = [refusal.message] + refusal.issues.map(\.message)
                return messages.contains { $0.contains(Self.denials[0]) } ? true : nil
            case .new:
                let code = kind == .enrollments ? "E1102" : "E1000"
                return refusal.issues.contains { $0.code == code } ? true : nil
            }
        default: return nil
        }
    }
}

extension JSONDocument {
    fileprivate func text(_ name: String) -> String? { value(name)?.stringValue }
}
