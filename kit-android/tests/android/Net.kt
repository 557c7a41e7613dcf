// As App.kt.

@file:Suppress("UNUSED_PARAMETER")

package android.net

class Uri {
  companion object {
    fun parse(text: String) = Uri()
    fun encode(text: String): String = text
  }
}
