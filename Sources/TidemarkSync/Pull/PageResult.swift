// PageResult.swift — what came of a page, as far as the next step depends on it.

package import TidemarkEvents

/// What a page, or entities that were fetched, brought.
package struct PageResult: Sendable, Hashable {
    /// How many entities were new.
    package var count = 0
    /// Those that the page only names and that are not here in that version.
    package var wanted: [ServerReference] = []
    /// Every entity that the page names, readable or not, by the id that it goes by here.
    package var named: Set<ExactString> = []
    /// Whether something came into reach that has everything listed anew.
    package var isGain = false
    /// Whether the list was noted as complete with it.
    package var isComplete = false
    /// The list with the page taken in; nil of what is no page of a list.
    package var list: Listing?
    /// Why the list can't go on: it leads in a circle, or on and on.
    package var failure: SyncFailure?

    /// When the page was asked for, by the server's clock, and a little earlier.
    package var asked: Timestamp?
    /// The last change among what the page names, deletions included.
    package var latest: Timestamp?

    package init() {}
}
