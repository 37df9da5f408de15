// HistoryRules.swift — which histories are possible: what must come before an event.
//
//   any event            its cause, call, mutation, sync run
//   request.sent         every mutation that it covers, still pending; no other open attempt
//   effects of an answer the request.answered itself, where the log has it
//   pull.page            the entities that it says are new; without them it names fewer
//   rule.answered        the server's record that the rule was asked about, which comes next
//   local.created        the entity does not exist
//   local.updated …      the entity exists
//   local.discarded      something pending; local.retried something refused
//
// A rule that the given log breaks itself is not demanded of a shorter log either.

import TidemarkCapsule
import TidemarkEvents
import TidemarkViews

/// The dependencies between the events of one log, by index.
struct HistoryRules: Sendable {
    /// For each event, the earlier events that it requires.
    let needs: [[Int]]
    /// For each answer of a conflict rule, the event that it is about.
    let followers: [Int: Int]
    /// For each page, the events of the entities that it says are new, by position.
    let pages: [Int: [Position: Int]]
    /// The events that are never left out: the store's first opening, and its first model.
    let pinned: Set<Int>
    /// The events that break the rules in the given log.
    var exempt: Set<Int> = []

    init(_ entries: [Capsule.Entry], hasModel: Bool) {
        var places: [Position: Int] = [:]
        for (index, entry) in entries.enumerated() { places[entry.position] = index }
        var needs: [[Int]] = []
        var followers: [Int: Int] = [:]
        var pages: [Int: [Position: Int]] = [:]
        var pinned: Set<Int> = []
        var answers: [Position: Int] = [:]
        var isOpened = hasModel
        var isRegistered = hasModel
        for (index, entry) in entries.enumerated() {
            let event = entry.event
            var named = [event.cause, event.call, event.mutation, event.sync].compactMap(\.self)
            if event.kind == .requestSent { named += Self.covered(by: event) }
            var all = named.compactMap { places[$0] }.filter { $0 < index }
            switch event.kind.family {
            case .answer:
                if event.kind == .requestAnswered, let call = event.call { answers[call] = index }
            case .word, .notice, .list, .push, .asset:
                if let answer = event.call.flatMap({ answers[$0] }) { all.append(answer) }
            case .store, .model, .local, .app, .runStart, .runEnd, .request, .unknown: break
            }
            if let cause = event.cause.flatMap({ places[$0] }), cause < index,
                entries[cause].event.kind == .ruleAnswered
            {
                followers[cause] = index
            }
            if event.kind == .pullPage {
                let news = event.read(PullPage.self)?.events ?? []
                pages[index] = Dictionary(
                    news.map { ($0, places[$0]) }, uniquingKeysWith: { first, _ in first }
                ).compactMapValues(\.self)
            }
            if event.kind == .storeOpened, !isOpened {
                isOpened = true
                pinned.insert(index)
            }
            if event.kind == .modelRegistered, !isRegistered {
                isRegistered = true
                pinned.insert(index)
            }
            needs.append(Array(Set(all)).sorted())
        }
        self.needs = needs
        self.followers = followers
        self.pages = pages
        self.pinned = pinned
    }

    /// Every mutation that a request covers.
    static func covered(by event: Event) -> [Position] {
        event.read(RequestSent.self)?.covers ?? []
    }

    /// The indexes of the ids in a page that have nothing new.
    static func known(in page: Event) -> [Int] {
        let places = page.read(PullPage.self)?.places ?? []
        return places.indices.filter { places[$0] == .same }
    }

    /// A page without the entities of some events; nil where it would name none.
    static func page(_ page: Event, without gone: Set<Position>) -> Event? {
        guard let named = page.read(PullPage.self) else { return page }
        return page.saying(named.without(events: gone))
    }

    /// A page without some of its entities; nil where it would name none.
    static func page(_ page: Event, without gone: Set<Int>) -> Event? {
        guard let named = page.read(PullPage.self) else { return page }
        return page.saying(named.without(gone))
    }

    /// Whether an event is possible with the views in their current state.
    static func allows(_ event: Event, _ fold: Fold) throws -> Bool {
        guard let key = event.key else { return true }
        switch event.kind.family {
        case .local(.created): return try fold.entity(key).content == nil
        case .local(.updated), .local(.deleted): return try fold.entity(key).content != nil
        case .local(.requested): return true
        case .local(.discarded): return try !fold.entity(key).pending.isEmpty
        case .local(.retried): return try fold.entity(key).pending.contains(where: \.isRefused)
        case .request:
            guard let last = event.mutation else { return true }
            let row = try fold.entity(fold.resolve(key))
            return row.attempt == nil && row.pending.contains { $0.position == last }
        case .store, .model, .local(.wiped), .app, .runStart, .runEnd, .answer, .word, .notice,
            .list, .push, .asset, .unknown:
            return true
        }
    }
}

extension Event {
    /// The same event with another page; nil for none.
    fileprivate func saying(_ page: PullPage?) -> Event? {
        guard let page else { return nil }
        var event = self
        event.payload = page.encoded
        return event
    }
}
