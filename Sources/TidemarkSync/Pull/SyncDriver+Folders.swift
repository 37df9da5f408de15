// SyncDriver+Folders.swift — several folders of a tree at once: those that a walk comes to next are
// asked for while it waits, and taken in its order.
//
// A folder is asked for once the list that names it was taken. What it tells is as old as its
// request: rows with a later answer are newer.

import HTTPTypes
import TidemarkEvents
import TidemarkViews

/// A folder that was asked for ahead of the walk.
struct FolderAhead: Sendable {
    var path: ExactString
    /// The number of the pass, within the run, in which it was asked for.
    var pass: Int
}

/// The folders that were asked for ahead of a walk.
struct FoldersAhead: Sendable {
    /// How many of the folders that come next are asked for, for each that may be open at once.
    static let perOpen = 2

    /// The list, and which of its passes.
    private var target: PullTarget?
    private var walkPass = 0
    /// How many passes of any list there were in the run.
    private(set) var pass = 0
    private var asked: Set<ExactString> = []
    private var answered: [ExactString: AnsweredList] = [:]
    /// Whether an answer ends the run once it is taken: nothing is asked for behind it.
    private var isEnding: Bool { answered.values.contains(where: \.endsRun) }

    /// Goes on with a list, or begins with another one, or with another pass of it.
    ///
    /// - Returns: answers that are not used.
    mutating func goOn(with list: Listing) -> [AnsweredList] {
        let number = list.walk?.pass ?? 0
        guard target != list.target || walkPass != number || list.isUnasked else { return [] }
        let unused = inOrder
        (target, walkPass, pass) = (list.target, number, pass + 1)
        (asked, answered) = ([], [:])
        return unused
    }

    /// The answer of a folder, which is used once.
    mutating func take(_ path: ExactString) -> AnsweredList? {
        guard let answer = answered.removeValue(forKey: path) else { return nil }
        asked.remove(path)
        return answer
    }

    /// Whether a folder was asked for and is not answered.
    func isOpen(_ path: ExactString) -> Bool { asked.contains(path) && answered[path] == nil }

    /// The first of some folders that may be asked for.
    func next(of paths: [ExactString]) -> ExactString? {
        isEnding ? nil : paths.first { !asked.contains($0) }
    }

    mutating func ask(_ path: ExactString) { asked.insert(path) }

    mutating func answer(_ answer: AnsweredList, of folder: FolderAhead) {
        answered[folder.path] = answer
    }

    /// Has a folder asked for once more: its answer counts for nothing.
    mutating func forget(_ path: ExactString) { asked.remove(path) }

    /// Has folders asked for once more that were refused for credentials which were renewed since.
    ///
    /// - Returns: their answers.
    mutating func forgetRefused() -> [AnsweredList] {
        let refused = inOrder.filter { $0.answer == .failure(.unauthorized) }
        for answer in refused {
            guard let path = answer.folder?.path else { continue }
            answered[path] = nil
            asked.remove(path)
        }
        return refused
    }

    /// Answers that were not taken, in the order of their requests.
    var inOrder: [AnsweredList] { answered.values.sorted { $0.number < $1.number } }
}

extension SyncDriver {
    /// Drops what was asked for ahead of another list, or of another pass.
    func goOn(withFolders list: Listing, _ run: inout SyncRun) {
        guard list.walk != nil else { return }
        for unused in run.ahead?.folders.goOn(with: list) ?? [] { drop(unused, &run) }
    }

    /// Asks for folders that come next, as many as may be open at once, until the current one is
    /// answered.
    ///
    /// - Returns: nil where it is asked for without any ahead of it.
    func turn(
        ofFolder list: Listing, _ run: inout SyncRun,
        _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) async throws -> AnsweredList? {
        let parallel = model.settings.parallel
        guard parallel > 1, let walk = list.walk, run.ahead != nil else { return nil }
        // The first folder of a list is asked for as the list is.
        guard !list.isUnasked else { return nil }
        let current = ExactString(walk.folder.path)
        let next = walk.nextPaths(parallel * FoldersAhead.perOpen)
        let counted = list.call.flatMap { adapter.group(of: $0) }
        while let ahead = run.ahead {
            if let answered = run.ahead?.folders.take(current) { return answered }
            let mayAsk =
                ahead.open < parallel && !run.pace.isOver(at: run.moment)
                && run.pace.verdict(at: run.moment, for: counted) == .go
            if mayAsk, let path = ahead.folders.next(of: next) {
                try ask(forFolder: path, of: list, &run, &group)
            } else if ahead.folders.isOpen(current) {
                try await takeNext(&run, &group)
            } else if ahead.open >= parallel {
                try await takeNext(&run, &group)
            } else {
                return nil
            }
        }
        return nil
    }

    /// Asks for a folder, without waiting for its answer.
    private func ask(
        forFolder path: ExactString, of list: Listing, _ run: inout SyncRun,
        _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) throws {
        guard var ahead = run.ahead, let call = list.call(ofFolder: path.text) else { return }
        defer { run.ahead = ahead }
        ahead.folders.ask(path)
        let folder = FolderAhead(path: path, pass: ahead.folders.pass)
        var answered = AnsweredList(
            target: list.target, folder: folder, answer: .failure(.cancelled), round: ahead.round,
            proof: ahead.proof)
        let asOf = try host.read(journal) { $0.last }
        do {
            try send(call, asOf: asOf, as: &answered, &ahead, &run, &group)
        } catch let error as SyncFailure {
            answered.answer = .failure(error)
            ahead.folders.answer(answered, of: folder)
        }
    }

    /// Keeps the answer of a folder until the walk comes to it.
    func take(_ answered: AnsweredList, of folder: FolderAhead, _ run: inout SyncRun) {
        guard var ahead = run.ahead, folder.pass == ahead.folders.pass else {
            return drop(answered, &run)
        }
        if answered.answer == .failure(.unauthorized), answered.proof < ahead.proof {
            drop(answered, &run)
            ahead.folders.forget(folder.path)
        } else {
            ahead.folders.answer(answered, of: folder)
        }
        run.ahead = ahead
    }
}

extension SyncDriver {
    /// How many folders in a row the credentials may not open.
    private static let closedMax = 8

    /// What the list of one folder says that the credentials don't open, though they do others.
    ///
    /// Some servers refuse them there as if nobody had signed in: so it is where the folder was
    /// asked for once more, with what the app gave then, and refused again. Those that follow at
    /// once are asked for once. After so many in a row it is the credentials.
    ///
    /// - Returns: the same as a folder that is forbidden; nil for any other answer.
    func closed(_ answer: ServerAnswer, to step: SyncStep, _ run: inout SyncRun) -> ServerAnswer? {
        guard case .list(let call) = step, answer == .failure(.unauthorized),
            (1...Self.closedMax).contains(run.proof.refusals), run.machine.mayBeClosed(step)
        else { return nil }
        run.proof.refused()
        return adapter.answer(to: call, HTTPResponse(status: .forbidden), body: [])
    }
}

extension SyncMachine {
    /// Whether a step lists a folder that alone may be closed to the user: others of its tree were
    /// listed, in this run or in the one that it goes on from.
    func mayBeClosed(_ step: SyncStep) -> Bool {
        guard case .list = step, let list, list.walk != nil else { return false }
        return (hasAnswer || list.isContinued) && list.goesOn(after: .forbidden)
    }
}

extension Listing {
    /// The call that lists a folder of its walk.
    fileprivate func call(ofFolder path: String) -> ServerCall? {
        var list = self
        list.next = path.isEmpty ? nil : path
        return list.call
    }
}

extension TreeWalk {
    /// The paths of the folders that are listed next, the current one first, as far as they are
    /// known.
    fileprivate func nextPaths(_ count: Int) -> [ExactString] {
        ([folder] + waiting.suffix(max(0, count - 1)).reversed()).map { ExactString($0.path) }
    }
}
