"""Words that carry no meaning of their own, and the phrases that only ask."""

ENGLISH = frozenset(
    """
    a about above after again against all also am an and any are aren as at be because been before being below between
    both but by can cannot could couldn d did didn do does doesn doing don down during each either else ever every
    few for from further get had hadn has hasn have haven having he her here hers herself him himself his how i if
    in into is isn it its itself just ll let many may me might mightn more most much must mustn my myself neither
    no nor not now of off on once one only onto or other our ours ourselves out over own per rather re s same
    shall shan she should shouldn so some such t than that the their theirs them themselves then there these they
    this those though through thus to too under until up upon us ve very was wasn we were weren what when where
    whether which while who whom whose why will with within without won would wouldn yet you your yours yourself
    yourselves m""".split()
)
"""English function words; neither indexed nor asked for."""

CHINESE_QUESTION = (
    "请问|請問|告诉我|告訴我|(?<![小传傳学學演描听聽])[讲講说說写寫](?:的是)?了?(?:些?[什甚][么麼](?![时時样樣地人])|哪些)|"
    "是什么意思|是什麼意思|什么样|什麼樣|什么时候|什麼時候|什么时间|什麼時間|什么地方|什麼地方|什么|什麼|甚么|甚麼"
    "|为什么|為什麼|为何|為何|怎么样|怎麼樣|怎么办|怎麼辦|怎么|怎麼|怎样|怎樣|如何|何时|何時|何地|何处|何處|何人|何种|何種|何者|"
    "哪一年|哪年|哪一个|哪一個|哪一种|哪一種|哪一|哪些|哪个|哪個|哪里|哪裡|哪裏|哪位|哪种|哪種|哪儿|哪|谁的|誰的|谁|誰|"
    "有多少|多少个|多少個|多少|有几个|有幾個|几个|幾個|有几|几|幾|多大|多长时间|多長時間|多长|多長|多久|多高|多远|多遠|多快|"
    "是不是|能不能|可不可以|可以吗|是否|有没有|有沒有|吗|嗎|呢|么|麼|的|了|是|？|\\?"
)
"""Chinese phrases that ask or join; cut from a question before bigrams are made."""

CHINESE_POINTING = r"[\s\W这這那它牠他她此其我你您们們个個些里裡裏儿兒种種样樣边邊在都说說讲講做用干幹能会會要有]*"
"""What points without saying to what; a question of nothing else asks for nothing that could be looked up."""

ENGLISH_QUESTION = (
    r"(?i)\bhow\s+(?:long|many|much|often|far|old|large|big|tall|high|fast|deep|wide|quickly|soon)\b"
    r"|\b(?:what|which)\s+(?:kind|type|sort|name)s?\s+of\b|\bwhat\s+is\s+the\s+name\s+of\b|\bwhat\s+year\b|\btell me\b"
    r"|\bwhat(?:['’]s|\s+is|\s+was)\s+new\s+in\b"
)
"""English phrases that ask; cut from a question before its terms are made."""
