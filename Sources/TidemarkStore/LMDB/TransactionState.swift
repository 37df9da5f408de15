// TransactionState.swift — what a writing transaction remembers while its methods only borrow it.

/// The thread, the first failure and the lent bytes of one writing transaction.
final class TransactionState {
    /// The first error LMDB answered with; from then on the transaction can only be aborted.
    private(set) var failure: StoreError?
    /// How many closures hold lent bytes right now.
    private var lentCount = 0
    private let threadMark = Platform.threadMark

    /// Stops the process when this isn't the thread that began the transaction.
    func checkThread() {
        Platform.require(
            Platform.threadMark == threadMark,
            "A writing transaction was used on another thread than the one that began it.")
    }

    /// Stops the process when lent bytes could change under the closure that reads them.
    func checkNothingLent() {
        Platform.require(
            lentCount == 0,
            "A writing transaction was written to while its bytes are lent to a closure; "
                + "collect what to write first, then write after the closure.")
    }

    /// Stops the process when this is no time or place to write.
    func checkWrite() {
        checkThread()
        checkNothingLent()
    }

    func lend() { lentCount += 1 }
    func takeBack() { lentCount -= 1 }

    func record(_ error: StoreError) {
        if failure == nil { failure = error }
    }
}
