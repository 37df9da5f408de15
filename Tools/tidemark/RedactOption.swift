// RedactOption.swift — the redaction of capsules: `--redact` and the options that go with it.

import ArgumentParser
import Tidemark
import TidemarkCapsule
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync

struct RedactOption: ParsableArguments {
    @Flag(
        help: """
            Replace texts, numbers, ids and tokens by others, so that the capsule can be handed \
            on: equal stays equal, lengths and orders stay, and so do all decisions.
            """)
    var redact = false
    @Option(
        help: ArgumentHelp(
            "With --redact: the values of this field stay; may be given more than once.",
            valueName: "COLLECTION.FIELD"))
    var keep: [String] = []
    @Flag(help: "With --redact: the names of fields stay, also those that the model does not know.")
    var keepNames = false
    @Option(
        help: ArgumentHelp(
            "With --redact: all times are so many days later; --shift-times=-28 for earlier.",
            valueName: "DAYS"))
    var shiftTimes: Int?

    func validate() throws {
        guard redact || (keep.isEmpty && !keepNames && shiftTimes == nil) else {
            throw ValidationError("--keep, --keep-names and --shift-times go with --redact")
        }
    }

    /// The redaction's policy; nil for no redaction.
    var policy: Redaction? {
        guard redact else { return nil }
        return Redaction(
            times: shiftTimes.map { .shifted(days: $0) } ?? .kept, keep: keep,
            names: keepNames ? nil : [])
    }

    /// The capsule in the form in which it is written.
    ///
    /// - Parameter random: sixty-four random bits.
    /// - Throws: a usage error, or findings where it can't be redacted.
    func applied(to capsule: Capsule, random: () -> UInt64) throws -> Capsule {
        guard var policy else { return capsule }
        if let remote = try capsule.remote() {
            policy.words = Adapters.words(of: remote)
            if policy.words == ServerWords() {
                Terminal.say(
                    "tidemark: the adapter \"\(remote.adapter)\" is not known here: its paths and "
                        + "other words are replaced, too")
            }
        }
        do { return try capsule.redacted(policy, random: random) } catch let error
            as RedactionError
        {
            if error.code == .policy { throw UsageError(error.description) }
            Terminal.say("tidemark: not redacted, and not written: \(error)")
            throw Exit.findings
        }
    }
}
