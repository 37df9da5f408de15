// EventFamilyTests.swift — kinds have the family that their names say.

import Testing
import TidemarkEvents

@Suite struct `the family of a kind` {
    private func kinds(_ isMeant: (EventFamily) -> Bool) -> [EventKind] {
        EventKind.allCases.filter { isMeant($0.family) }
    }

    @Test func `is the user's for what the name calls local, and tells each of them`() {
        let local = kinds { if case .local = $0 { true } else { false } }

        #expect(local == EventKind.allCases.filter { $0.description.hasPrefix("local.") })
        #expect(local.map(\.family) == EventFamily.Local.allCases.map { .local($0) })
    }

    @Test func `is the server's word for an entity that it has, or has no more`() {
        #expect(EventKind.serverUpserted.family == .word(.upserted))
        #expect(EventKind.serverDeleted.family == .word(.deleted))
        #expect(EventKind.serverDescribed.family == .notice)
        #expect(EventKind.serverUnreadable.family == .notice)
        #expect(EventKind.reservedAdded.family == .notice)
    }

    @Test(arguments: [
        (EventFamily.answer, [EventKind.requestAnswered, .requestFailed]),
        (.list, [.pullPage, .pullCompleted]), (.push, [.pushAccepted, .pushRejected]),
        (.app, [.issueAnswered, .triggerReceived, .timerFired, .ruleAnswered, .reservedTaken]),
    ])
    func `puts kinds together that are asked for together`(
        _ family: EventFamily, _ some: [EventKind]
    ) {
        #expect(some.allSatisfy { $0.family == family })
    }

    @Test func `is that of one kind for what the code relies on being one`() {
        #expect(kinds { $0 == .runStart } == [.syncStarted])
        #expect(kinds { $0 == .runEnd } == [.syncFinished])
        #expect(kinds { $0 == .request } == [.requestSent])
        #expect(kinds { $0 == .model } == [.modelRegistered])
    }

    @Test func `is unknown for those of other versions, and for no other`() {
        #expect(EventKind(rawValue: 9_000).family == .unknown)
        #expect(EventKind(named: "payload.erased")?.family == .unknown)
        #expect(kinds { $0 == .unknown } == [])
    }
}
