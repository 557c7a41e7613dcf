// The records of the checkouts, in memory and in their file. Thread-safe: a lock guards the records, another one the
// file, and no function of the app runs while one is held.

package checkoutkit

import java.io.File
import java.io.IOException
import kotlin.math.abs

internal class CheckoutRecords(
  file: File, private val clock: CheckoutClock, private val log: (OperatorText) -> Unit
) {
  private val lock = Any()
  private val storeLock = Any()
  private val store = CheckoutFile(file)
  private var records: List<CheckoutRecord> = emptyList()
  private var offsetMillis = 0L
  private var claimLink: ClaimLink? = null
  /** Whether the file has been read. Until then it may have checkouts that a write would lose. */
  private var isRead = false
  /** The checkouts that a thread posts now. */
  private val posting = HashSet<String>()

  init {
    load()
  }

  val all: List<CheckoutRecord> get() = synchronized(lock) { records }

  /** By how much the relay's clock is ahead of the device's, in milliseconds. */
  val clockOffsetMillis: Long get() = synchronized(lock) { offsetMillis }

  /** The claim link that waits. */
  val claim: ClaimLink? get() = synchronized(lock) { claimLink }

  /** @param body returns null to remove the link. */
  fun changeClaim(body: (ClaimLink?) -> ClaimLink?) {
    val isChanged = synchronized(lock) {
      val before = claimLink
      claimLink = body(before)
      claimLink != before
    }
    if (isChanged) save()
  }

  fun find(id: String): CheckoutRecord? = all.firstOrNull { it.contextId == id }

  /** Reads the file if that has failed before. */
  fun load() {
    report(synchronized(storeLock) { attempt("read") { readIfNeeded() } })
  }

  /** Adds a checkout that the caller posts now: see [release]. */
  fun add(record: CheckoutRecord) {
    val dropped = synchronized(lock) {
      posting.add(record.contextId)
      records = records + record
      val before = records.size
      while (records.size > RECORDS_MAX) records = records - (records.firstOrNull { it.isExpired } ?: records.first())
      before - records.size
    }
    if (dropped > 0) log(OperatorText("There are more than $RECORDS_MAX open checkouts; the oldest is forgotten."))
    save()
  }

  /** @param body returns null to remove the record. */
  fun change(id: String, body: (CheckoutRecord) -> CheckoutRecord?) {
    val isChanged = synchronized(lock) {
      val before = records
      // An older relay returns the id that it has for the same context.
      records = before.mapNotNull { if (it.contextId == id) body(it) else it }.distinctBy { it.contextId }
      records != before
    }
    if (isChanged) save()
  }

  /** Removes the records of a user from the memory and from the disk, whatever state the file is in. */
  fun forget(userId: String) {
    val lost = synchronized(storeLock) {
      store.deleteDamaged()
      val unread = attempt("read") { readIfNeeded() }
      synchronized(lock) { records = records.filter { it.userId != userId } }
      val unwritten = attempt("written") {
        store.write(current())
        null
      }
      if (!isRead || unwritten != null) {
        // The records of other users are in the memory; the next change writes them.
        store.delete()
        isRead = true
      }
      unread ?: unwritten
    }
    report(lost)
  }

  /** @param newMillis what the relay's last answer showed; null without one. */
  fun noteClock(newMillis: Long?) {
    val isChanged = synchronized(lock) {
      // `Date` has whole seconds, and an answer takes time: smaller differences are not worth a write.
      val isChanged = newMillis != null && abs(newMillis - offsetMillis) > OFFSET_CHANGE_MILLIS
      if (isChanged && newMillis != null) offsetMillis = newMillis
      isChanged
    }
    if (isChanged) save()
  }

  /** Reserves those of these records that no other thread posts now. */
  fun reserve(wanted: List<CheckoutRecord>): List<CheckoutRecord> =
    synchronized(lock) { wanted.filter { posting.add(it.contextId) } }

  fun release(ids: Collection<String>) {
    synchronized(lock) { posting.removeAll(ids) }
  }

  /** A full disk must not keep the customer from paying: the record is then in memory only. */
  private fun save() {
    // The disk may be slow: the records stay readable meanwhile.
    val lost = synchronized(storeLock) {
      attempt("written") { readIfNeeded().also { store.write(current()) } }
    }
    report(lost)
  }

  private fun current() = synchronized(lock) { CheckoutList(records, offsetMillis, claimLink) }

  /** @return what of the file was lost; null when nothing was. */
  private fun readIfNeeded(): String? {
    if (isRead) return null
    val list = store.read(clock.wallMillis)
    synchronized(lock) {
      // The checkouts that began since are newer.
      records = (list.records + records).distinctBy { it.contextId }.takeLast(RECORDS_MAX)
      if (offsetMillis == 0L) offsetMillis = list.clockOffsetMillis
      if (claimLink == null) claimLink = list.claim
      isRead = true
    }
    return list.damage
  }

  private fun attempt(what: String, body: () -> String?): String? = try {
    body()
  } catch (failed: IOException) {
    "The file of checkouts could not be $what: $failed"
  }

  private fun report(lost: String?) {
    if (lost != null) log(OperatorText(lost))
  }

  private companion object {
    const val RECORDS_MAX = 50
    const val OFFSET_CHANGE_MILLIS = 60_000L
  }
}
