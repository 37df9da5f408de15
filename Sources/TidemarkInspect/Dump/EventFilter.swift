// EventFilter.swift — which events a dump shows.

package import TidemarkEvents

/// Which events to show; a member that is nil or empty allows all.
package struct EventFilter: Sendable, Hashable {
    package var kinds: Set<EventKind> = []
    package var collection: CollectionName?
    package var entity: String?
    package var sync: Position?
    package var from: Position?
    package var to: Position?
    package var since: Timestamp?
    package var until: Timestamp?

    package init() {}

    package func allows(_ position: Position, _ event: Event) -> Bool {
        (kinds.isEmpty || kinds.contains(event.kind))
            && (collection == nil || event.collection == collection)
            && (entity == nil || event.entity.map(ExactString.init) == entity.map(ExactString.init))
            && (sync == nil || event.sync == sync || position == sync)
            && spans(position)
            && since.map { event.recordedAt >= $0 } ?? true
            && until.map { event.recordedAt < $0 } ?? true
    }

    /// Whether a position is between the first and the last that are asked for.
    package func spans(_ position: Position) -> Bool {
        from.map { position >= $0 } ?? true && to.map { position <= $0 } ?? true
    }
}
