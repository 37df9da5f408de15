// TestRun.swift — which tests are to run.

import Foundation

package enum TestRun {
    /// Whether everything runs; `Tools/test --fast` leaves out what takes long.
    package static let isWhole = ProcessInfo.processInfo.environment["TIDEMARK_TESTS"] != "fast"
}
