// TestSeeds.swift — the seeds of tests that go by chance.

import Foundation

package enum TestSeeds {
    /// The seeds that an environment variable names, such as `100-400`; the few of every day where
    /// it names none.
    package static func named(
        _ variable: String, else usual: ClosedRange<UInt64>
    ) -> ClosedRange<UInt64> {
        let text = ProcessInfo.processInfo.environment[variable] ?? ""
        let bounds = text.split(separator: "-").compactMap { UInt64($0) }
        guard let first = bounds.first, let last = bounds.last, first <= last else { return usual }
        return first...last
    }
}
