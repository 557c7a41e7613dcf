// The script of pages that wait, embedded in each of them. It requests the page again and replaces the parts
// that changed. The state is a live region (`role=status`), so screen readers read out a change and nothing
// else: no reload moves their reader to the top (WCAG 2.2, failure F41). The focus stays on its link.

enum PublicScript {
  static let text: StaticString = """
    (()=>{"use strict";const main=document.querySelector("main");let timer;\
    const wait=()=>{clearTimeout(timer);const seconds=Number(main.dataset.seconds);\
    if(seconds)timer=setTimeout(check,seconds*1000)};\
    const check=async()=>{clearTimeout(timer);if(document.hidden||!main.dataset.seconds)return;\
    main.classList.remove("busy");void main.offsetWidth;main.classList.add("busy");\
    try{const reply=await fetch(location.href,{cache:"no-store"});\
    if(reply.ok)show(new DOMParser().parseFromString(await reply.text(),"text/html"))}catch{}wait()};\
    const show=next=>{if(!next.getElementById("state"))return;\
    for(const id of["state","ways","help"]){\
    const old=document.getElementById(id),now=next.getElementById(id);\
    if(old.innerHTML===now.innerHTML)continue;\
    const at=[...old.querySelectorAll("a")].indexOf(document.activeElement);\
    old.className=now.className;old.replaceChildren(...now.childNodes);\
    if(at>=0)old.querySelectorAll("a")[at]?.focus({preventScroll:true})}\
    document.title=next.title;main.dataset.seconds=next.querySelector("main").dataset.seconds??""};\
    document.addEventListener("visibilitychange",check);\
    addEventListener("pageshow",event=>{if(event.persisted)check()});wait()})()
    """
}
