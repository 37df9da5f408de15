// RowPages.swift — damaged pages of rows and indexes: the log makes these anew, so they are no
// reason to salvage it.

import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

extension PageAudit.Result {
    /// Problems with pages that no rebuild makes anew.
    var lasting: [LogError] {
        findings.filter { !$0.isOfRows }.map { LogError(.corruptTable, at: .start, "\($0)") }
    }

    /// What is wrong with pages of rows and indexes.
    var ofRows: [PageAudit.Finding] { findings.filter(\.isOfRows) }
}

extension PageAudit.Finding {
    fileprivate var isOfRows: Bool { table.map { ViewTables.checkedTables.contains($0) } ?? false }
}

extension Journal {
    /// The damaged pages of rows and indexes: problems where they are in use; notes, one of each
    /// table, where the other generation is.
    func damage(ofRows pages: PageAudit.Result) throws -> (live: [LogError], unused: [String]) {
        let found = pages.ofRows
        guard !found.isEmpty else { return ([], []) }
        let tables = try liveTables()
        var (live, unused): ([LogError], [String]) = ([], [])
        var noted: Set<String> = []
        for finding in found {
            guard let table = finding.table else { continue }
            if tables.contains(table) {
                live.append(
                    LogError(.corruptRow, at: .start, "\(finding); `tidemark rebuild` mends it"))
            } else if noted.insert(table).inserted {
                unused.append(
                    "the table \(table), which is not in use, is damaged: \(finding); the next "
                        + "rebuild makes it anew")
            }
        }
        return (live, unused)
    }

    /// The names of the tables that rows and indexes are read from; all where that isn't known.
    private func liveTables() throws -> Set<String> {
        let stored = try environment.read { try views.state($0) }
        guard let state = stored, !state.isDamaged else { return ViewTables.checkedTables }
        let rows = Tree.allCases.map { views.table($0, state.generation).name }
        return Set(rows + [views.indexTable(state.generation).name])
    }
}
